import { compareBytes } from '../../api/byte-order.ts';
import { compareVersions, type Version, zeroVersion } from '../../resolver/versions/index.ts';
import type { OlmChannel } from '../blobs/index.ts';
import {
  type Archetype,
  archetypes,
  type ChannelKind,
  type SemverTemplate,
} from './semver-template.ts';

/** Versions of the bundles of each archetype, by bundle name. */
export type VersionsByArchetype = Readonly<Record<Archetype, ReadonlyMap<string, Version>>>;

export interface SemverChannels {
  readonly channels: readonly OlmChannel[];
  readonly defaultChannel: string;
}

/** A bundle in a channel, with the upgrade edges to it. */
interface Entry {
  readonly archetype: Archetype;
  readonly kind: ChannelKind;
  readonly channel: string;
  readonly name: string;
  readonly version: Version;
  replaces: string;
  skips: readonly string[];
}

/**
 * Channels for the versions of a template. Only the highest of each minor version has upgrade edges
 * to it: it skips all lower versions of its major version, and replaces the highest of the previous
 * minor version.
 */
export function semverChannels(
  packageName: string,
  versions: VersionsByArchetype,
  template: SemverTemplate,
): SemverChannels {
  const entries = archetypes.flatMap((archetype) =>
    template.kinds.flatMap((kind) => entriesOf(archetype, kind, versions[archetype])),
  );
  for (const line of linesOf(entries)) linkLine(line);
  const channels = Map.groupBy(entries, ({ channel }) => channel);
  return {
    channels: [...channels]
      .toSorted(([a], [b]) => compareBytes(a, b))
      .map(([name, members]) => ({
        schema: 'olm.channel',
        name,
        package: packageName,
        entries: members.map((entry) => ({
          name: entry.name,
          replaces: entry.replaces,
          skips: entry.skips,
          skipRange: '',
        })),
        properties: [],
      })),
    defaultChannel: defaultChannel([...channels.values()], template.preference),
  };
}

function entriesOf(
  archetype: Archetype,
  kind: ChannelKind,
  versions: ReadonlyMap<string, Version>,
): readonly Entry[] {
  return [...versions]
    .toSorted(([, a], [, b]) => compareVersions(a, b))
    .map(([name, version]) => {
      const { major, minor } = version;
      const channel = `${archetype}-v${kind === 'major' ? major : `${major}.${minor}`}`;
      return { archetype, kind, channel, name, version, replaces: '', skips: [] };
    });
}

/** Entries by archetype, kind and major version: upgrade edges stay within each group. */
function linesOf(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const lines = Map.groupBy(
    entries,
    ({ archetype, kind, version }) => `${archetype} ${kind} ${version.major}`,
  );
  return [...lines.values()];
}

function linkLine(line: readonly Entry[]): void {
  const minors = [...Map.groupBy(line, ({ version }) => version.minor).values()];
  const lower: string[] = [];
  let before = '';
  for (const minor of minors) {
    const names = minor.map(({ name }) => name);
    const head = minor.at(-1);
    if (head === undefined) continue;
    lower.push(...names.slice(0, -1));
    head.replaces = before;
    head.skips = lower.filter((name) => name !== before).toSorted(compareBytes);
    lower.push(head.name);
    before = head.name;
  }
}

interface Claim {
  readonly rank: number;
  /** The lowest version of the channel. */
  readonly version: Version;
  readonly isPreferred: boolean;
  readonly name: string;
}

/** The channel of the most stable archetype; of several the one with the highest versions. */
function defaultChannel(channels: readonly (readonly Entry[])[], preference: ChannelKind): string {
  const claims = channels.flatMap(([first]) =>
    first === undefined ? [] : [claimOf(first, preference)],
  );
  const least: Claim = { rank: 0, version: zeroVersion, isPreferred: false, name: '' };
  return claims.reduce((best, claim) => (isHigher(claim, best) ? claim : best), least).name;
}

function claimOf(first: Entry, preference: ChannelKind): Claim {
  return {
    rank: archetypes.indexOf(first.archetype),
    version: first.version,
    isPreferred: first.kind === preference,
    name: first.channel,
  };
}

function isHigher(claim: Claim, best: Claim): boolean {
  if (claim.rank !== best.rank) return claim.rank > best.rank;
  const order = compareVersions(claim.version, best.version);
  if (order !== 0) return order > 0;
  return best.name === '' || (claim.isPreferred && !best.isPreferred);
}
