import { stringifyJson } from '../../../api/json.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { ContentLimits } from '../../contracts/bundle-files.ts';
import { TerminalError } from '../../errors.ts';
import { checkObjectCount, checkObjectSize } from '../../manifests/index.ts';
import { pieceBytes } from './content-transfer.ts';
import { findNoJson } from './json-check.ts';
import { checkObject, unfit } from './object-check.ts';

export interface ObjectTextsOptions {
  /** Whose objects they are. */
  readonly callee: string;
  readonly limits: ContentLimits;
}

/**
 * A handler's objects as JSON, in pieces. Bounded here, where their maker is: the manager is not to
 * receive what it could not bear.
 * @throws TerminalError where an object is none, or there is too much of them.
 */
export function* objectTexts(
  all: readonly KubernetesObject[],
  { callee, limits }: ObjectTextsOptions,
): Generator<readonly string[]> {
  if (!Array.isArray(all)) throw new TerminalError(`${callee} returned no array of objects`);
  checkObjectCount(all.length, limits.maxEntries);
  let texts: string[] = [];
  let size = 0;
  let total = 0;
  for (const index of all.keys()) {
    const text = textOf(all[index], { callee, index });
    const bytes = Buffer.byteLength(text);
    if (bytes > pieceBytes) checkObjectSize(all[index] as KubernetesObject);
    texts.push(text);
    size += bytes;
    total += bytes;
    if (total > limits.maxBytes) {
      throw new TerminalError(
        `${callee} made objects of more than ${limits.maxBytes} bytes (--max-content-bytes) of the bundle: split it`,
      );
    }
    if (size < pieceBytes) continue;
    yield texts;
    texts = [];
    size = 0;
  }
  if (texts.length > 0) yield texts;
}

function textOf(object: unknown, place: { callee: string; index: number }): string {
  const problem = findNoJson(object);
  if (problem !== undefined) throw unfit(place, problem);
  checkObject(object, place);
  return stringifyJson(object);
}
