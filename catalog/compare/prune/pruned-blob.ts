import { goQuote } from '../../../api/go-quote.ts';
import type { JsonObject, JsonValue } from '../../../api/json.ts';
import { listOf } from '../../../api/json-fields.ts';
import { shortList } from '../../../core/short-list.ts';
import {
  type Blob,
  type DeprecationEntry,
  decodeChannel,
  decodeDeprecations,
} from '../../blobs/index.ts';
import { memberOf, withMember } from '../written-fields.ts';
import type { KeptPackage } from './kept-package.ts';

/** The data of a kept package for the second pass. */
export class PrunedPackage {
  readonly name: string;
  readonly defaultChannel: string;
  readonly channels: KeptPackage['channels'];
  readonly bundles: ReadonlySet<string>;
  readonly #kept: KeptPackage;

  constructor(kept: KeptPackage, defaultChannel: string | undefined) {
    this.#kept = kept;
    this.name = kept.outline.name;
    this.defaultChannel = kept.defaultChannel(defaultChannel);
    this.channels = kept.channels;
    this.bundles = new Set([...kept.bundles()].map(({ name }) => name));
  }

  *notes(): Generator<string> {
    const place = `package ${goQuote(this.name)}`;
    const { defaultChannel } = this.#kept.outline;
    for (const { channel, names } of this.#kept.between()) {
      yield `${place}, channel ${goQuote(channel)}: kept ${shortList(names, 5)}, which upgrades pass through`;
    }
    if (this.defaultChannel === defaultChannel) return;
    yield `${place}: the default channel is now ${goQuote(this.defaultChannel)}, since ${goQuote(defaultChannel)} is left out`;
  }
}

/** The blob without its removed parts; undefined if nothing of it is kept. */
export function prunedBlob(
  blob: Blob,
  packages: ReadonlyMap<string, PrunedPackage>,
): Blob | undefined {
  const isPackage = blob.schema === 'olm.package';
  const owner = isPackage ? blob.name : blob.package;
  const kept = packages.get(owner);
  if (kept === undefined) return owner === '' && !isOlm(blob.schema) ? blob : undefined;
  switch (blob.schema) {
    case 'olm.package':
      return { ...blob, value: withMember(blob.value, 'defaultChannel', kept.defaultChannel) };
    case 'olm.channel':
      return prunedChannel(blob, kept);
    case 'olm.bundle':
      return kept.bundles.has(blob.name) ? blob : undefined;
    case 'olm.deprecations':
      return prunedDeprecations(blob, kept);
    default:
      return blob;
  }
}

const schemas = new Set(['olm.package', 'olm.channel', 'olm.bundle', 'olm.deprecations']);

function isOlm(schema: string): boolean {
  return schemas.has(schema);
}

function prunedChannel(blob: Blob, { channels }: PrunedPackage): Blob | undefined {
  const kept = channels.get(blob.name)?.entries;
  if (kept === undefined) return undefined;
  const { entries } = decodeChannel(blob);
  return withEntries(blob, (index) => kept.has(entries[index]?.name ?? ''));
}

function prunedDeprecations(blob: Blob, kept: PrunedPackage): Blob | undefined {
  const { entries } = decodeDeprecations(blob);
  const pruned = withEntries(blob, (index) => {
    const entry = entries[index];
    return entry !== undefined && isKept(entry, kept);
  });
  return listOf(memberOf(pruned.value, 'entries')).length === 0 ? undefined : pruned;
}

function isKept({ reference }: DeprecationEntry, { channels, bundles }: PrunedPackage): boolean {
  if (reference.schema === 'olm.channel') return channels.has(reference.name);
  return reference.schema !== 'olm.bundle' || bundles.has(reference.name);
}

function withEntries(blob: Blob, isLeft: (index: number) => boolean): Blob {
  const entries = listOf(memberOf(blob.value, 'entries')) as readonly JsonValue[];
  const value: JsonObject = withMember(
    blob.value,
    'entries',
    entries.filter((_, index) => isLeft(index)),
  );
  return { ...blob, value };
}
