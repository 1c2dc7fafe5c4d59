import type { CatalogReference, Property } from '../../candidates/index.ts';
import type { Candidate, GroupVersionKind } from '../../constraints/index.ts';
import type { VersionRange } from '../../versions/index.ts';

/** A bundle in a channel of a catalog, or one that is installed. */
export interface Entry extends Candidate {
  /** `<catalog>/<namespace>/<channel>/<name>`. */
  readonly id: string;
  readonly name: string;
  readonly catalog: CatalogReference;
  /** Empty for an installed bundle. */
  readonly channel: string;
  readonly isDefaultChannel: boolean;
  readonly replaces: string;
  readonly skips: readonly string[];
  readonly skipRange: VersionRange | undefined;
  readonly image: string;
  /** Set for an installed bundle. */
  readonly installed?: { readonly hasSubscription: boolean };
  /** By its properties, duplicates included. */
  readonly apis: readonly GroupVersionKind[];
  /** By its properties, duplicates included; `packageName` is its place in the catalog. */
  readonly packageNames: readonly string[];
  /** As OLM sees them: requirements are there twice, contents of bundles are not. */
  readonly properties: readonly Property[];
}

/** What can go wrong in a namespace beside its constraints; each message is OLM's. */
export class ResolutionError extends Error {
  override readonly name = 'ResolutionError';
  readonly messages: readonly string[];

  constructor(messages: readonly string[]) {
    const distinct = [...new Set(messages)];
    super(distinct.length === 1 ? distinct[0] : `[${distinct.join(', ')}]`);
    this.messages = distinct;
  }
}

export function entryId(
  { name, namespace }: Pick<CatalogReference, 'name' | 'namespace'>,
  channel: string,
  bundle: string,
): string {
  return `${name}/${namespace}/${channel}/${bundle}`;
}

/** OLM reads catalog, channel and name from the id, which a slash in one of them makes ambiguous. */
export function isReadable({ id }: Entry): boolean {
  return id.split('/').length === 4;
}

export function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
