import { Empty } from "../../components/notes";

export default function StorePage() {
  return (
    <div class="page">
      <h1>Store</h1>
      <Empty title="Not built yet" />
    </div>
  );
}
