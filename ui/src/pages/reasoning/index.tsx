import { Empty } from "../../components/notes";

export default function ReasoningPage() {
  return (
    <div class="page">
      <h1>Reasoning</h1>
      <Empty title="Not built yet" />
    </div>
  );
}
