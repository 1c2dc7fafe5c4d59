import { describe, expect, test } from 'vitest';
import type { HealthRule } from '../../../../api/v1alpha1/deployment-policies.ts';
import { customRule, ruleProblem } from './custom-rule.ts';

function judged(rule: Partial<HealthRule>, fields: object = {}): string {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, ...fields };
  const { status, message } = customRule(
    { kind: 'ConfigMap', healthy: 'true', ...rule },
    0,
  )(object);
  return `${status}: ${message}`;
}

const ready = 'self.status.ready == self.spec.replicas';

describe('a rule judges', () => {
  test("by the object's fields", () => {
    const spec = { replicas: 2 };
    expect(judged({ healthy: ready }, { spec, status: { ready: 2 } })).toBe(
      'Current: Resource is current',
    );
    expect(judged({ healthy: ready }, { spec, status: { ready: 1n } })).toBe(
      'InProgress: spec.health.rules[0].healthy does not hold',
    );
  });

  test('failure before health, in its own words', () => {
    const rule = {
      failed: "has(self.status) && self.status.phase == 'Error'",
      message: "'phase ' + self.status.phase",
    };
    expect(judged(rule, { status: { phase: 'Error' } })).toBe('Failed: phase Error');
    expect(judged(rule)).toBe('Current: Resource is current');
  });

  test('conditions, and fields that may be missing', () => {
    const healthy =
      "self.?status.conditions.orValue([]).exists(c, c.type == 'Up' && c.status == 'True')";
    expect(judged({ healthy })).toContain('InProgress');
    const conditions = [{ type: 'Up', status: 'True' }];
    expect(judged({ healthy }, { status: { conditions } })).toContain('Current');
  });
});

describe('a rule that cannot judge', () => {
  test('a field that is missing leaves the object in progress', () => {
    expect(judged({ healthy: ready })).toBe(
      'InProgress: spec.health.rules[0].healthy: No such key: status',
    );
  });

  test('no truth', () => {
    expect(judged({ healthy: "'yes'" })).toBe(
      'InProgress: spec.health.rules[0].healthy returns "yes": it must return true or false',
    );
  });

  test('a message that cannot be made still says what does not hold', () => {
    expect(judged({ healthy: 'false', message: 'self.nothing' })).toBe(
      'InProgress: spec.health.rules[0].healthy does not hold (spec.health.rules[0].message: No such key: nothing)',
    );
  });

  test('no CEL: no object is healthy by a mistake', () => {
    expect(judged({ failed: 'self.' })).toMatch(
      /^Failed: spec\.health\.rules\[0\]\.failed is not a valid CEL expression over self: /,
    );
  });
});

/** Each pass nests the value once more. */
function nested(text: string, body: (name: string) => string, times: number): string {
  let nest = text;
  for (let time = 0; time < times; time += 1)
    nest = `[${nest}].map(v${time}, ${body(`v${time}`)})[0]`;
  return nest;
}

describe('a message', () => {
  test('is no text where it is a list', () => {
    expect(judged({ healthy: 'false', message: '[self.kind]' })).toContain(
      'rules[0].message: returns object: it must return a string, number or boolean)',
    );
  });

  test('is not read where it is long', () => {
    const twice = (name: string) => `${name} + ${name}`;
    const message = nested('self.text', twice, 9);
    expect(judged({ healthy: 'false', message }, { text: 'x'.repeat(10_000) })).toContain(
      'rules[0].message: returns a text of more than 1000000 characters)',
    );
  });
});

test.each([
  [{ healthy: 'true', message: "'x'" }, undefined],
  [{ healthy: 'selff.x' }, /^spec\.health\.rules\[3\]\.healthy is not a valid CEL .*selff/],
  [{ healthy: 'true', message: '+' }, /^spec\.health\.rules\[3\]\.message is not a valid CEL/],
])('what is wrong with %j is known before it is used', (rule, problem) => {
  const found = ruleProblem({ kind: 'Pod', ...rule }, 3);
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(problem);
});
