// @module-tag long
import { deepStrictEqual } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type FailedNamespace,
  type NamespaceResolution,
  type ResolvedNamespace,
  resolveNamespace,
} from '../../resolver/olm0/index.ts';
import { generatedNamespace } from '../helpers/namespace-generator.ts';
import { type OlmAnswer, OlmResolver } from '../helpers/olm-resolver.ts';

const seeds = Array.from({ length: 24_000 }, (_, seed) => seed);
const atOnce = 100;

let olm: OlmResolver;

beforeAll(async () => {
  olm = await OlmResolver.start();
});

afterAll(() => olm.stop());

test('namespaces have the answers of OLM v0, and its texts', async () => {
  const found: Record<Verdict, string[]> = {
    resolved: [],
    'other bundles': [],
    prevented: [],
    'same core': [],
    'smaller core': [],
    'other core': [],
  };
  for (let first = 0; first < seeds.length; first += atOnce) {
    const requests = seeds.slice(first, first + atOnce).map((seed) => generatedNamespace(seed));
    // OLM answers many while ours are made: neither process waits for the other one each time.
    const asked = Promise.all(requests.map(async (request) => await olm.resolve(request)));
    const ours = requests.map((request) => resolveNamespace(request));
    for (const [index, theirs] of (await asked).entries()) {
      const seed = first + index;
      const own = ours[index] as NamespaceResolution;
      found[compare(own, theirs, `seed ${seed}`)].push(`${seed}`);
    }
  }
  console.info(Object.entries(found).map(([verdict, list]) => `${verdict}: ${list.length}`));
  console.info(found['other bundles']);
  // docs/spec/resolution.md says why these differ; a fault of ours would be far more frequent.
  expect(found['other bundles'].length).toBeLessThan(seeds.length / 1_000);
  expect(found['other core'].length).toBeLessThan(seeds.length / 100);
});

type Verdict =
  | 'resolved'
  | 'other bundles'
  | 'prevented'
  | 'same core'
  | 'smaller core'
  | 'other core';

function compare(ours: NamespaceResolution, theirs: OlmAnswer, where: string): Verdict {
  if (theirs.error === '') {
    if (ours.kind === 'failed') throw new Error(`${where}: OLM resolves it. ${ours.message}`);
    const plan = shownOfOlm(theirs);
    return isDeepStrictEqual(shown(ours), plan) ? 'resolved' : 'other bundles';
  }
  if (ours.kind === 'resolved') throw new Error(`${where} is resolved; OLM: ${theirs.error}`);
  const isUnsatisfiable = ours.reason === 'ConstraintsNotSatisfiable';
  deepStrictEqual(isUnsatisfiable, theirs.conflicts !== null, `${where}: ${ours.message}`);
  if (theirs.conflicts !== null) return compareCores(ours, theirs, theirs.conflicts);
  deepStrictEqual(errorsOf(ours.message), errorsOf(theirs.error), where);
  return 'prevented';
}

/** OLM lists unusable catalogs in any order. */
function errorsOf(message: string): readonly string[] {
  return message.startsWith('[error using catalogsource ')
    ? message
        .slice(1, -1)
        .split(/, (?=error using)/u)
        .sort()
    : [message];
}

function compareCores(
  { message }: FailedNamespace,
  { error }: OlmAnswer,
  conflicts: readonly string[],
): Verdict {
  if (message === error) return 'same core';
  let rest = message.replace('constraints not satisfiable: ', '');
  for (const text of conflicts) {
    if (rest === text) return 'smaller core';
    if (rest.startsWith(`${text}, `)) rest = rest.slice(text.length + 2);
  }
  return 'other core';
}

/** What OLM's plan says of a resolution. */
function shown(resolution: ResolvedNamespace): object {
  return {
    bundles: resolution.bundles
      .map(({ name, catalog, replaces, properties }) => {
        return { bundle: `${catalog.name}/${catalog.namespace}/${name}`, replaces, properties };
      })
      .sort(byBundle),
    generated: resolution.generated
      .map(({ name, startingCSV }) => `${name}: ${startingCSV}`)
      .sort(),
    currentCSVs: Object.fromEntries(resolution.currentCSVs),
  };
}

function shownOfOlm({ lookups, generated, updated }: OlmAnswer): object {
  return {
    bundles: (lookups ?? [])
      .map(({ bundle, replaces, properties }) => {
        const parsed = JSON.parse(properties) as { readonly properties: unknown };
        return { bundle, replaces, properties: parsed.properties };
      })
      .sort(byBundle),
    generated: (generated ?? []).map(({ name, startingCSV }) => `${name}: ${startingCSV}`).sort(),
    currentCSVs: updated,
  };
}

function byBundle(a: { readonly bundle: string }, b: { readonly bundle: string }): number {
  return a.bundle < b.bundle ? -1 : 1;
}
