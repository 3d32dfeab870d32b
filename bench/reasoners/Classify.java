import java.io.File;
import java.io.PrintWriter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import org.semanticweb.owlapi.apibinding.OWLManager;
import org.semanticweb.owlapi.model.OWLClass;
import org.semanticweb.owlapi.model.OWLOntology;
import org.semanticweb.owlapi.reasoner.InferenceType;
import org.semanticweb.owlapi.reasoner.Node;
import org.semanticweb.owlapi.reasoner.OWLReasoner;
import org.semanticweb.owlapi.reasoner.OWLReasonerFactory;

/** Classifies a file with ELK or HermiT: `java Classify.java elk|hermit ONTOLOGY TAXONOMY`. */
public class Classify {
    public static void main(String[] arguments) throws Exception {
        OWLOntology ontology = OWLManager.createOWLOntologyManager()
                .loadOntologyFromOntologyDocument(new File(arguments[1]));
        OWLReasonerFactory factory = arguments[0].equals("elk")
                ? new org.semanticweb.elk.owlapi.ElkReasonerFactory()
                : new org.semanticweb.HermiT.ReasonerFactory();
        OWLReasoner reasoner = factory.createReasoner(ontology);
        reasoner.precomputeInferences(InferenceType.CLASS_HIERARCHY);
        try (PrintWriter out = new PrintWriter(arguments[2])) {
            Deque<Node<OWLClass>> waiting = new ArrayDeque<>();
            Set<Node<OWLClass>> seen = new HashSet<>();
            waiting.add(reasoner.getTopClassNode());
            while (!waiting.isEmpty()) {
                Node<OWLClass> node = waiting.poll();
                if (!seen.add(node)) {
                    continue;
                }
                String name = node.getRepresentativeElement().getIRI().toString();
                for (OWLClass equal : node.getEntities()) {
                    out.println("= " + equal.getIRI() + " " + name);
                }
                for (Node<OWLClass> sub
                        : reasoner.getSubClasses(node.getRepresentativeElement(), true)) {
                    out.println("< " + sub.getRepresentativeElement().getIRI() + " " + name);
                    waiting.add(sub);
                }
            }
        }
        System.exit(0);
    }
}
