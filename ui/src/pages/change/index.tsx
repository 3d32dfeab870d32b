import { Empty } from "../../components/notes";

export default function ChangePage() {
  return (
    <div class="page">
      <h1>Change</h1>
      <Empty title="Not built yet" />
    </div>
  );
}
