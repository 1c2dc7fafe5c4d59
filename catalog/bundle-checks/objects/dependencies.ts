import { fieldAt, isMap, listOf } from '../../../api/json-fields.ts';
import { expressionProblem } from '../../../resolver/constraints/index.ts';
import { rangeProblem } from '../../../resolver/versions/index.ts';
import { type Check, scalarText } from '../bundle-content.ts';
import { error, type Finding, warning } from '../problem.ts';
import type { FieldPath } from '../source-lines.ts';

interface Complaint {
  /** Path within the dependency. */
  readonly path: FieldPath;
  readonly message: string;
  readonly fix: string;
  readonly severity?: 'warning';
}

type Rule = (value: unknown) => readonly Complaint[];

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['olm.package', packageProblems],
  [
    'olm.gvk',
    (value) => [
      ...absent(value, 'group', 'API Group is empty'),
      ...absent(value, 'version', 'API Version is empty'),
      ...absent(value, 'kind', 'API Kind is empty'),
    ],
  ],
  ['olm.label', (value) => absent(value, 'label', 'Label information is missing')],
  ['olm.constraint', constraintProblems],
]);

/** Checks metadata/dependencies.yaml. None of its findings blocks installation. */
export const dependencies: Check = {
  name: 'dependencies',
  summary: 'metadata/dependencies.yaml',
  optional: false,
  find: ({ dependencies: found }) => {
    if (found === undefined) return [];
    return listOf(found.value).flatMap((entry, index) =>
      problemsOf(entry).map(({ path, message, fix, severity = 'error' }): Finding => {
        const place = { file: found.file, document: 0, path: ['dependencies', index, ...path] };
        return severity === 'error'
          ? error({ place, message, fix })
          : warning({ place, message, fix });
      }),
    );
  },
};

function problemsOf(entry: unknown): readonly Complaint[] {
  const type = textAt(entry, 'type');
  const value = fieldAt(entry, 'value');
  const rule = rules.get(type);
  if (rule === undefined) {
    const message = `couldn't parse dependency of type ${type}`;
    return [{ path: ['type'], message, fix: `use one of ${[...rules.keys()].join(', ')}` }];
  }
  if (isMap(value)) return rule(value);
  const message = `the value of a dependency of type "${type}" is not a map: no catalog can be made of it`;
  return [{ path: ['value'], message, fix: 'write its fields as YAML, not as text' }];
}

function packageProblems(value: unknown): readonly Complaint[] {
  const version = textAt(value, 'version');
  const path = ['value', 'version'];
  const message = 'Invalid semver format version';
  const fix = 'write a range of versions, for example ">=1.2.3 <2.0.0"';
  return [
    ...absent(value, 'packageName', 'Package name is empty'),
    ...absent(value, 'version', 'Package version is empty'),
    ...(version === '' || rangeProblem(version) === undefined ? [] : [{ path, message, fix }]),
  ];
}

const otherConstraints = ['all', 'any', 'not', 'gvk', 'package'];

function constraintProblems(value: unknown): readonly Complaint[] {
  const cel = fieldAt(value, 'cel');
  const path = ['value', 'cel'];
  const other = otherConstraints.find((name) => fieldAt(value, name) !== undefined);
  if (!isMap(cel) && other !== undefined) {
    const message = `The CEL field is missing: "opm alpha bundle validate" refuses a constraint with "${other}", which catalogs and OLM take`;
    return [
      { severity: 'warning', path: ['value', other], message, fix: 'leave it, or skip that tool' },
    ];
  }
  if (!isMap(cel)) return [{ path, message: 'The CEL field is missing', fix: 'add cel.rule' }];
  const rule = textAt(cel, 'rule');
  if (rule.trim() === '') {
    return [{ path, message: 'The CEL expression is missing', fix: 'write it as cel.rule' }];
  }
  const problem = expressionProblem(rule);
  if (problem === undefined) return [];
  const message = `Invalid CEL expression: ${problem}`;
  return [{ path: [...path, 'rule'], message, fix: 'correct the expression' }];
}

function absent(value: unknown, field: string, message: string): readonly Complaint[] {
  if (textAt(value, field) !== '') return [];
  return [{ path: ['value', field], message, fix: `set ${field}` }];
}

function textAt(value: unknown, field: string): string {
  return scalarText(fieldAt(value, field));
}
