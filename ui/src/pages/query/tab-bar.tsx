/** The tabs of queries: add, close, rename. */

import { useRef, useState } from "preact/hooks";
import { forget, outcomes } from "./running";
import { active, activeId, closeTab, openTab, renameTab, tabs, titleOf } from "./tabs";

export const PANEL = "query-panel";

export function TabBar() {
  const [renaming, setRenaming] = useState<string | null>(null);
  const bar = useRef<HTMLDivElement>(null);
  const choose = (id: string) => {
    activeId.value = id;
    requestAnimationFrame(() => {
      bar.current?.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
    });
  };
  const keys = (event: KeyboardEvent) => {
    if (renaming !== null) return;
    const all = tabs.value;
    const at = all.findIndex((tab) => tab.id === active.value.id);
    if (event.key === "ArrowRight") choose(all[(at + 1) % all.length]!.id);
    else if (event.key === "ArrowLeft") choose(all[(at - 1 + all.length) % all.length]!.id);
    else if (event.key === "Delete") close(active.value.id);
    else if (event.key === "F2") setRenaming(active.value.id);
    else return;
    event.preventDefault();
  };
  const rename = (id: string, title: string) => {
    renameTab(id, title);
    setRenaming(null);
  };
  return (
    <div class="query-tabs">
      <div class="query-tab-list" role="tablist" aria-label="Queries" ref={bar} onKeyDown={keys}>
        {tabs.value.map((tab, index) => {
          const chosen = tab.id === active.value.id;
          const title = titleOf(tab, index + 1);
          if (renaming === tab.id) {
            return (
              <input
                key={tab.id}
                class="tab-name"
                aria-label="Name of the tab"
                defaultValue={tab.title}
                placeholder={title}
                ref={(element) => element?.focus()}
                onBlur={(event) => rename(tab.id, event.currentTarget.value)}
                onKeyDown={(event) => {
                  if (event.key === "Enter") rename(tab.id, event.currentTarget.value);
                  if (event.key === "Escape") setRenaming(null);
                }}
              />
            );
          }
          return (
            <button
              key={tab.id}
              type="button"
              role="tab"
              class="query-tab"
              aria-selected={chosen}
              aria-controls={chosen ? PANEL : undefined}
              tabIndex={chosen ? 0 : -1}
              title={`${title}\nDouble-click or F2 renames, middle click or Delete closes`}
              onClick={() => (activeId.value = tab.id)}
              onDblClick={() => setRenaming(tab.id)}
              onAuxClick={(event) => event.button === 1 && close(tab.id)}
            >
              {outcomes.value[tab.id]?.running && <span class="spinner" aria-label="running" />}
              <span class="query-tab-title">{title}</span>
            </button>
          );
        })}
      </div>
      {tabs.value.length > 1 && (
        <button
          type="button"
          class="button quiet icon"
          aria-label="Close this tab"
          title="Close this tab"
          onClick={() => close(active.value.id)}
        >
          ×
        </button>
      )}
      <button
        type="button"
        class="button quiet icon"
        aria-label="New tab"
        title="New tab (Alt T)"
        onClick={() => openTab()}
      >
        +
      </button>
    </div>
  );
}

function close(id: string): void {
  forget(id);
  closeTab(id);
}
