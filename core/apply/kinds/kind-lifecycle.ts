import type { Discovery } from '../../platform/kube/index.ts';
import { stringAt } from '../fields/json-fields.ts';
import type { InventoryEntry, ObjectEvent, ObjectEventListener } from '../inventory/inventory.ts';
import { isDefinition } from '../objects/order.ts';
import type { OpenAPIDocuments } from '../schema/openapi-documents.ts';
import type { KindWatches } from './kind-watches.ts';

export interface KindLifecycleOptions {
  readonly discovery: Discovery;
  readonly documents: OpenAPIDocuments;
  readonly watches: KindWatches;
}

/** Keeps what is known about kinds true to the CRDs that come and go. */
export class KindLifecycle implements ObjectEventListener {
  readonly #options: KindLifecycleOptions;

  constructor(options: KindLifecycleOptions) {
    this.#options = options;
  }

  hear({ type, entry }: ObjectEvent): void {
    if (!isDefinition(entry.resource)) return;
    if (type === 'changed') this.#options.documents.invalidate();
    if (type === 'removed') this.#definitionGone(entry);
  }

  #definitionGone({ object: { spec } }: InventoryEntry): void {
    const { discovery, documents, watches } = this.#options;
    documents.invalidate();
    const [group, kind] = [stringAt(spec, 'group'), stringAt(spec, 'names', 'kind')];
    if (group === undefined || kind === undefined) {
      discovery.invalidate();
      return;
    }
    discovery.invalidate({ group, kind });
    watches.stop({ group, kind });
  }
}
