/** A graph of nodes and arrows: `GraphView`. The drawing library is loaded when first needed. */

import type { Core, ElementDefinition, NodeSingular, StylesheetJson } from "cytoscape";
import { useEffect, useRef, useState } from "preact/hooks";
import { ErrorNote, Loading } from "../components/notes";
import { placesOf } from "../logic/layers";
import { colour, isDark } from "../theme";

export interface GraphNode {
  id: string;
  label: string;
  kind?: "iri" | "literal" | "bnode" | "fact" | "rule";
  inferred?: boolean;
}

export interface GraphEdge {
  from: string;
  to: string;
  label: string;
  inferred?: boolean;
}

/** Small graphs are not drawn larger than this at first. */
const LARGEST = 1.25;
/** Proofs that would be drawn smaller than this are shown in part. */
const READABLE = 0.6;

interface GraphProps {
  nodes: GraphNode[];
  edges: GraphEdge[];
  label: string;
  /** Called for a node that was chosen by a click or tap. */
  onChoose?: (id: string) => void;
  /** "layers" draws from top to bottom, for proofs. */
  arrangement?: "force" | "layers";
  height?: number;
}

export function GraphView(props: GraphProps) {
  const box = useRef<HTMLDivElement>(null);
  const graph = useRef<Core | null>(null);
  const choose = useRef(props.onChoose);
  choose.current = props.onChoose;
  const [error, fail] = useState<unknown>(null);
  const [ready, setReady] = useState(false);
  const dark = isDark();
  useEffect(() => {
    let current = true;
    import("cytoscape").then(
      ({ default: cytoscape }) => {
        if (!current || !box.current) return;
        forestallStyle();
        graph.current = cytoscape({
          container: box.current,
          elements: elementsOf(props.nodes, props.edges),
          style: looks(),
          layout: layoutOf(props),
          minZoom: 0.1,
          maxZoom: 3,
        });
        lookAt(graph.current, props.arrangement === "layers");
        graph.current.on("tap", "node", (event) => choose.current?.(event.target.id()));
        setReady(true);
      },
      (problem: unknown) => fail(problem),
    );
    return () => {
      current = false;
      graph.current?.destroy();
      graph.current = null;
    };
  }, [props.nodes, props.edges, props.arrangement]);
  useEffect(() => {
    graph.current?.style(looks());
  }, [dark, ready]);
  const zoom = (factor: number) => {
    const core = graph.current;
    if (!core) return;
    const middle = { x: core.width() / 2, y: core.height() / 2 };
    core.zoom({ level: core.zoom() * factor, renderedPosition: middle });
  };
  if (error) return <ErrorNote error={error} />;
  return (
    <div class="graph">
      <div class="graph-tools row">
        <button type="button" class="button icon" aria-label="Larger" onClick={() => zoom(1.3)}>
          +
        </button>
        <button type="button" class="button icon" aria-label="Smaller" onClick={() => zoom(1 / 1.3)}>
          −
        </button>
        <button type="button" class="button" onClick={() => graph.current?.fit(undefined, 24)}>
          Fit
        </button>
      </div>
      {!ready && <Loading what="the graph" />}
      <div
        class="graph-canvas"
        ref={box}
        role="img"
        aria-label={`${props.label}: ${props.nodes.length} nodes, ${props.edges.length} arrows`}
        style={{ height: `${props.height ?? 520}px` }}
      />
    </div>
  );
}

/** Small graphs are not blown up; of a large proof its conclusion is shown at a readable size. */
function lookAt(core: Core, isProof: boolean): void {
  if (core.zoom() > LARGEST) core.zoom(LARGEST).center();
  if (!isProof || core.zoom() >= READABLE) return;
  core.zoom(READABLE).center(core.nodes().leaves());
  core.panBy({ x: 0, y: core.height() / 2 - 60 });
}

/** Cytoscape adds a style element, which the policy refuses; its rule is in graph.css instead. */
function forestallStyle(): void {
  const id = "__________cytoscape_stylesheet";
  if (document.getElementById(id)) return;
  const stand = document.createElement("meta");
  stand.id = id;
  document.head.append(stand);
}

function elementsOf(nodes: GraphNode[], edges: GraphEdge[]): ElementDefinition[] {
  return [
    ...nodes.map((node) => ({
      data: { id: node.id, label: node.kind === "fact" ? node.label : shorten(node.label) },
      classes: `${node.kind ?? "iri"}${node.inferred ? " inferred" : ""}`,
    })),
    ...edges.map((edge, index) => ({
      data: { id: `edge ${index}`, source: edge.from, target: edge.to, label: edge.label },
      classes: edge.inferred ? "inferred" : "",
    })),
  ];
}

function shorten(text: string): string {
  return text.length > 36 ? `${text.slice(0, 35)}…` : text;
}

function layoutOf(props: GraphProps) {
  if (props.arrangement === "layers") {
    const places = placesOf(
      props.nodes.map((node) => node.id),
      props.edges,
    );
    return { name: "preset", positions: (node: { id(): string }) => places.get(node.id()), padding: 24 };
  }
  return {
    name: "cose",
    animate: false,
    padding: 24,
    nodeRepulsion: () => 60_000,
    nodeOverlap: 30,
    idealEdgeLength: () => 70,
    edgeElasticity: () => 80,
    componentSpacing: 60,
    gravity: 1.2,
    numIter: props.nodes.length > 300 ? 300 : 1000,
  };
}

/** The size of a box for a text of several lines; the library measures none any more. */
function boxOf(text: string): { width: number; height: number } {
  const lines = text.split("\n");
  const longest = Math.max(...lines.map((line) => line.length));
  const wrapped = lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 36)), 0);
  return { width: Math.min(longest * 6.4, 230) + 6, height: wrapped * 14 + 4 };
}

function looks(): StylesheetJson {
  const [ink, muted, paper] = [colour("ink"), colour("muted"), colour("paper")];
  const [accent, inferred, ground] = [colour("accent"), colour("inferred"), colour("ground")];
  const family = colour("sans");
  return [
    {
      selector: "node",
      style: {
        label: "data(label)",
        color: ink,
        "font-family": family,
        "font-size": 11,
        "min-zoomed-font-size": 6,
        "text-valign": "bottom",
        "text-margin-y": 3,
        "text-background-color": paper,
        "text-background-opacity": 0.85,
        "background-color": accent,
        width: 14,
        height: 14,
      },
    },
    {
      selector: "node.literal",
      style: { shape: "round-rectangle", "background-color": muted, width: 10, height: 10 },
    },
    {
      selector: "node.bnode",
      style: { "background-color": ground, "border-color": accent, "border-width": 2 },
    },
    { selector: "node.inferred", style: { "background-color": inferred } },
    {
      selector: "node.fact, node.rule",
      style: {
        shape: "round-rectangle",
        width: (node: NodeSingular) => boxOf(node.data("label") as string).width,
        height: (node: NodeSingular) => boxOf(node.data("label") as string).height,
        padding: "8px",
        "text-valign": "center",
        "text-margin-y": 0,
        "text-wrap": "wrap",
        "text-max-width": "220px",
        "background-color": paper,
        "border-color": accent,
        "border-width": 1.5,
        "text-background-opacity": 0,
      },
    },
    { selector: "node.fact.inferred", style: { "border-color": inferred, "border-style": "dashed" } },
    { selector: "node.rule", style: { "border-width": 0, color: muted, "font-size": 10 } },
    {
      selector: "edge",
      style: {
        label: "data(label)",
        color: muted,
        "font-family": family,
        "font-size": 10,
        "min-zoomed-font-size": 8,
        "text-rotation": "autorotate",
        "text-background-color": paper,
        "text-background-opacity": 0.85,
        width: 1.4,
        "line-color": muted,
        "target-arrow-color": muted,
        "target-arrow-shape": "triangle",
        "arrow-scale": 0.8,
        "curve-style": "bezier",
      },
    },
    {
      selector: "edge.inferred",
      style: {
        "line-style": "dashed",
        "line-color": inferred,
        "target-arrow-color": inferred,
        color: inferred,
      },
    },
    { selector: ":selected", style: { "border-width": 3, "border-color": inferred } },
  ] as StylesheetJson;
}
