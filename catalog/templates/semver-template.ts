import { goQuote } from '../../api/go-quote.ts';
import type { JsonObject, JsonValue } from '../../api/json.ts';
import { isMap, listOf, stringAt } from '../../api/json-fields.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import { parseYaml } from '../../core/manifests/index.ts';
import { decodeAs, flag, listOfShape, type StructShape, struct, text } from '../blobs/index.ts';
import { checkRepeatedKeys } from './repeated-keys.ts';

/** Levels of stability of channels, from the lowest to the highest. */
export const archetypes = ['candidate', 'fast', 'stable'] as const;
export type Archetype = (typeof archetypes)[number];

/** Part of the version that all bundles of a channel share. */
export type ChannelKind = 'major' | 'minor';

export interface SemverTemplate {
  readonly kinds: readonly ChannelKind[];
  /** Kind of the default channel if two channels are equal otherwise. */
  readonly preference: ChannelKind;
  /** Images of bundles. */
  readonly images: Readonly<Record<Archetype, readonly string[]>>;
}

const channel = struct('semver.channelBundles', {
  bundles: listOfShape(struct('semver.bundleEntry', { image: text })),
});

const template = struct('semver.SemverTemplateData', {
  schema: text,
  generateMajorChannels: flag,
  generateMinorChannels: flag,
  defaultChannelTypePreference: { kind: 'string', type: 'semver.StreamType' },
  candidate: channel,
  fast: channel,
  stable: channel,
});

/**
 * Reads a template of schema `olm.semver`.
 * @throws TerminalError in opm's words for other schemas, unknown and repeated fields, and conflicting
 * settings.
 */
export function readSemverTemplate(content: Uint8Array): SemverTemplate {
  const data = decoded(content);
  if (stringAt(data, 'schema') !== 'olm.semver') {
    throw new TerminalError('readFile: input file has unknown schema, should be "olm.semver"');
  }
  const isMajor = data['generateMajorChannels'] === true;
  const isMinor = data['generateMinorChannels'] === true || !isMajor;
  const preference = stringAt(data, 'defaultChannelTypePreference') ?? '';
  checkPreference(preference, { major: isMajor, minor: isMinor });
  return {
    kinds: [...(isMajor ? (['major'] as const) : []), ...(isMinor ? (['minor'] as const) : [])],
    preference: preference === 'major' || (preference === '' && !isMinor) ? 'major' : 'minor',
    images: {
      candidate: imagesOf(data['candidate']),
      fast: imagesOf(data['fast']),
      stable: imagesOf(data['stable']),
    },
  };
}

function decoded(content: Uint8Array): JsonObject {
  const value = parseYaml(content);
  checkRepeatedKeys(content);
  const before = 'error unmarshaling JSON: while decoding JSON: ';
  try {
    const data = (decodeAs(template, value) ?? {}) as JsonObject;
    checkFields(template, value);
    return data;
  } catch (error) {
    throw new TerminalError(`${before}${errorMessage(error)}`, { cause: error });
  }
}

function checkFields(shape: StructShape, value: JsonValue | undefined): void {
  if (!isMap(value)) return;
  const names = new Map(Object.keys(shape.fields).map((name) => [name.toLowerCase(), name]));
  for (const [key, member] of Object.entries(value)) {
    const name = names.get(key.toLowerCase());
    const field = name === undefined ? undefined : shape.fields[name]?.shape;
    if (field === undefined) throw new TerminalError(`json: unknown field ${goQuote(key)}`);
    if (field.kind === 'struct') checkFields(field, member);
    if (field.kind !== 'list' || field.of.kind !== 'struct') continue;
    for (const item of listOf(member)) checkFields(field.of, item as JsonValue);
  }
}

function checkPreference(preference: string, kinds: Readonly<Record<ChannelKind, boolean>>): void {
  if (preference === '') return;
  if (preference !== 'major' && preference !== 'minor') {
    throw new TerminalError(
      `unknown DefaultChannelTypePreference: ${goQuote(preference)}\nValid values are 'major' or 'minor'`,
    );
  }
  if (kinds[preference]) return;
  throw new TerminalError(
    `schema attribute mismatch: DefaultChannelTypePreference set to '${preference}' doesn't make sense if not generating ${preference}-version channels`,
  );
}

function imagesOf(channelBundles: JsonValue | undefined): readonly string[] {
  const bundles = isMap(channelBundles) ? listOf(channelBundles['bundles']) : [];
  return bundles.map((bundle) => stringAt(bundle, 'image') ?? '');
}
