import { Empty } from "../../components/notes";

export default function ResourcePage() {
  return (
    <div class="page">
      <h1>Resource</h1>
      <Empty title="Not built yet" />
    </div>
  );
}
