import { stringifyJson } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { TerminalError } from '../errors.ts';

/** What the API server takes in one request. */
const maxObjectBytes = 3 * 1024 * 1024;

const shownName = 100;

/** @throws TerminalError where there are more. */
export function checkObjectCount(count: number, maxObjects: number): void {
  if (count <= maxObjects) return;
  throw new TerminalError(
    `bundle has more than ${maxObjects} objects (--max-content-entries): split it`,
  );
}

/** @throws TerminalError that names the object. */
export function checkObjectSize(object: KubernetesObject): void {
  const bytes = Buffer.byteLength(stringifyJson(object));
  if (bytes <= maxObjectBytes) return;
  throw new TerminalError(
    `${nameOf(object)} has ${bytes} bytes as JSON, more than the ${maxObjectBytes} that the API server takes: split it or make it smaller`,
  );
}

// A third party's object may lack what the type promises.
function nameOf({ kind, metadata }: Partial<KubernetesObject>): string {
  const path = [metadata?.namespace, metadata?.name].filter(Boolean).join('/');
  return `${String(kind).slice(0, shownName)} ${JSON.stringify(path.slice(0, shownName))}`;
}
