import { Empty } from "../../components/notes";

export default function QueryPage() {
  return (
    <div class="page">
      <h1>Query</h1>
      <Empty title="Not built yet" />
    </div>
  );
}
