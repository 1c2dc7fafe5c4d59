import type { Discovery } from '../kube/discovery.ts';
import type { InventoryEntry, InventoryListener } from './inventory.ts';
import { stringAt } from './json-fields.ts';
import type { KindWatches } from './kind-watches.ts';
import type { OpenAPIDocuments } from './openapi-documents.ts';
import { isDefinition } from './order.ts';

export interface KindLifecycleOptions {
  readonly discovery: Discovery;
  readonly documents: OpenAPIDocuments;
  readonly watches: KindWatches;
  /** Hears everything as well, after this one. */
  readonly next: InventoryListener;
}

/** Keeps what is known about kinds true to the CRDs that come and go. */
export class KindLifecycle implements InventoryListener {
  readonly #options: KindLifecycleOptions;

  constructor(options: KindLifecycleOptions) {
    this.#options = options;
  }

  changed(entry: InventoryEntry): void {
    if (isDefinition(entry.resource)) this.#options.documents.invalidate();
    this.#options.next.changed(entry);
  }

  removed(entry: InventoryEntry): void {
    if (isDefinition(entry.resource)) this.#definitionGone(entry);
    this.#options.next.removed(entry);
  }

  #definitionGone({ object: { spec } }: InventoryEntry): void {
    const { discovery, documents, watches } = this.#options;
    documents.invalidate();
    discovery.invalidate();
    const [group, kind] = [stringAt(spec, 'group'), stringAt(spec, 'names', 'kind')];
    if (group !== undefined && kind !== undefined) watches.stop({ group, kind });
  }
}
