import { expect, test } from 'vitest';
import { loadDirectory } from '../../cmd/ctl/content/load-content.ts';
import {
  type BundleFiles,
  defaultLimits,
  type JsonObject,
  type JsonValue,
  parseYaml,
  stringifyJson,
} from '../../core/sdk.ts';
import { aTree } from '../../test/helpers/registry-bundle.ts';
import { optionalChecks } from './checks.ts';
import { validateBundle } from './validate-bundle.ts';

const odd: readonly JsonValue[] = [null, 7, true, 'x', [], {}, [null], [7], { a: null }, ['x']];

/** Every copy of a value in which one thing is replaced by an odd one. */
function* spoiled(value: JsonValue): Generator<JsonValue> {
  yield* odd;
  if (Array.isArray(value)) {
    const list = value as readonly JsonValue[];
    for (const [index, item] of list.entries()) {
      for (const other of spoiled(item)) yield list.with(index, other);
    }
  } else if (typeof value === 'object' && value !== null) {
    const object = value as JsonObject;
    for (const [key, member] of Object.entries(object)) {
      for (const other of spoiled(member ?? null)) yield { ...object, [key]: other };
    }
  }
}

function* spoiledBundles({ files }: BundleFiles): Generator<BundleFiles> {
  const contents = Object.fromEntries(files);
  for (const [path, content] of files) {
    for (const value of spoiled(parseYaml(content))) {
      yield aTree({ ...contents, [path]: stringifyJson(value) });
    }
  }
}

test('nothing in a bundle keeps the rest of it from being judged', { tags: ['slow'] }, () => {
  const files = loadDirectory('deploy/samples/howto/validate', defaultLimits);
  let count = 0;
  for (const bundle of spoiledBundles(files)) {
    const { problems } = validateBundle(bundle, {
      className: 'registry',
      optional: optionalChecks,
    });
    expect(problems.length).toBeGreaterThan(0);
    count += 1;
  }
  expect(count).toBeGreaterThan(500);
});
