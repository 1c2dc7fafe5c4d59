import fc from 'fast-check';
import { customRule } from '../../../../core/apply/health/rules/custom-rule.ts';
import { ruleProblem } from '../../../../core/apply/index.ts';
import { type FuzzTarget, textOf, Violation } from '../../fuzz-target.ts';

const object = {
  apiVersion: 'v1',
  kind: 'Widget',
  metadata: { name: 'w', generation: 2, labels: { a: 'b' } },
  status: { phase: 'Ready', replicas: 3, conditions: [{ type: 'Ready', status: 'True' }] },
};
const parts = [
  'self',
  '.status',
  '.phase',
  '.conditions',
  '[0]',
  '.exists(c, c.type == "Ready")',
  '.all(x, x != null)',
]
  .concat([
    'has(self.status)',
    ' == ',
    ' + ',
    ' && ',
    '||',
    '!',
    '? true : false',
    '.size()',
    '.matches("^R")',
    '1',
    '-9223372036854775808',
  ])
  .concat([
    '"x"',
    'b"\\xff"',
    '[1, 2]',
    '{"a": 1}',
    'timestamp("2026-01-01T00:00:00Z")',
    'duration("1h")',
    '.map(x, x)',
    '(',
    ')',
    '.?a',
  ])
  .concat([
    'type(self)',
    'int("1")',
    'double(1)',
    'string(self.status.replicas)',
    'dyn(self)',
    ' in ',
    '.orValue(1)',
    '\n',
  ]);

/** CEL rules of spec.health: either the check refuses them, or they evaluate for every object. */
export const healthRules: FuzzTarget = {
  name: 'health-rules',
  seeds: [
    'self.status.conditions.exists(c, c.type == "Ready" && c.status == "True")',
    'has(self.status.replicas) && self.status.replicas >= 3 ? "yes".startsWith("y") : false',
    '[1, 2, 3].map(x, x * 2).filter(x, x > 2).size() == 2',
    'self.metadata.?labels.a.orValue("") == "b" && timestamp("2026-01-01T00:00:00Z") < timestamp("2027-01-01T00:00:00Z")',
  ],
  words: parts,
  made: fc.array(fc.constantFrom(...parts), { maxLength: 12 }).map((chosen) => chosen.join('')),
  refusals: [],
  read(input) {
    const rule = { apiVersion: 'example.com/v1', kind: 'Widget', healthy: textOf(input) };
    const problem = ruleProblem(rule, 0);
    if (problem === '') throw new Violation('refuses a rule without a reason');
    const { message } = customRule(rule, 0)(object);
    if (message.length > 4_096 + input.byteLength)
      throw new Violation('gives a message that is too long');
  },
};
