import { Empty } from "../../components/notes";

export default function OntologyPage() {
  return (
    <div class="page">
      <h1>Ontology</h1>
      <Empty title="Not built yet" />
    </div>
  );
}
