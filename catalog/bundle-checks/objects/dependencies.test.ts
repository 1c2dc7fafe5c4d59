import { expect, it } from 'vitest';
import { stringifyJson } from '../../../core/sdk.ts';
import { aBundleWith, found } from '../../../test/helpers/validated-bundle.ts';
import { problemLine } from '../problem.ts';
import { dependencies } from './dependencies.ts';

const compatibility =
  'The CEL field is missing: "opm alpha bundle validate" refuses a constraint with "all", which catalogs and OLM take';

it.each([
  ['olm.package', { packageName: 'a', version: '>1.0.0 <2.0.0 || 3.x' }, []],
  ['olm.package', {}, ['E Package name is empty', 'E Package version is empty']],
  ['olm.package', { packageName: 'a', version: '^1.0.0' }, ['E Invalid semver format version']],
  ['olm.gvk', { group: 'g', version: 'v1', kind: 'K' }, []],
  ['olm.gvk', {}, ['E API Group is empty', 'E API Version is empty', 'E API Kind is empty']],
  ['olm.label', { label: 'l' }, []],
  ['olm.label', {}, ['E Label information is missing']],
  ['olm.constraint', {}, ['E The CEL field is missing']],
  ['olm.constraint', { cel: { rule: '' } }, ['E The CEL expression is missing']],
  ['olm.constraint', { cel: { rule: 'properties.exists(p, p.type == "a")' } }, []],
  ['olm.constraint', { cel: { rule: 'semver_compare("1.0.0", "2.0.0") == -1' } }, []],
  [
    'olm.constraint',
    { cel: { rule: '1 + 1' } },
    ['E Invalid CEL expression: cel expressions must have type Bool'],
  ],
  [
    'olm.constraint',
    { cel: { rule: 'properties.exists(p, q.type == 1)' } },
    [
      "E Invalid CEL expression: ERROR: <input>:1:22: undeclared reference to 'q' (in container '')\n | properties.exists(p, q.type == 1)\n | .....................^",
    ],
  ],
  [
    'olm.constraint',
    { cel: { rule: 'a &&' } },
    [expect.stringMatching(/^E Invalid CEL expression: ./)],
  ],
  ['olm.constraint', { all: { constraints: [] } }, [`W ${compatibility}`]],
  ['olm.other', {}, ["E couldn't parse dependency of type olm.other"]],
  [
    'olm.label',
    'text',
    [expect.stringContaining('E the value of a dependency of type "olm.label"')],
  ],
])('%s %j', (type, value, expected) => {
  const good = { type: 'olm.label', value: { label: 'x' } };
  const text = stringifyJson({ dependencies: [good, { type, value }] }, 1);
  const lines = found(dependencies, aBundleWith({}, { 'metadata/dependencies.yaml': text }));
  expect(lines.map((line) => line.replace(/ metadata\/dependencies\.yaml:(\d+)/, ''))).toEqual(
    expected,
  );
  for (const line of lines) expect(line).toMatch(/dependencies\.yaml:(?:9|1\d)/);
});

it('the line of a problem has no lines of an expression', () => {
  const message = 'Invalid CEL expression: ERROR: a\n | x\n | ^\nERROR: b\n | y\n | .^';
  expect(problemLine({ severity: 'error', message, fix: 'correct it' })).toBe(
    'error: Invalid CEL expression: ERROR: a ERROR: b; correct it',
  );
});
