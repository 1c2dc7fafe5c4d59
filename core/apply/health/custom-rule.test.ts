import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { HealthRule } from '../../../api/v1alpha1/deployment-policies.ts';
import { cpuTime } from '../../../test/helpers/cpu-time.ts';
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
  test('by what the object says', () => {
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
      'InProgress: spec.health.rules[0].healthy gives "yes": it must give true or false',
    );
  });

  test('a message that cannot be made still says what does not hold', () => {
    expect(judged({ healthy: 'false', message: 'self.nothing' })).toBe(
      'InProgress: spec.health.rules[0].healthy does not hold (spec.health.rules[0].message: No such key: nothing)',
    );
  });

  test('no CEL: no object is healthy by a mistake', () => {
    expect(judged({ failed: 'self.' })).toMatch(
      /^Failed: spec\.health\.rules\[0\]\.failed is no CEL expression over self: /,
    );
  });

  test.each([
    ['loops', 'self.x.all(a, self.x.all(b, self.x.all(c, self.x.all(d, a + b + c + d >= 0.0))))'],
    ['a regular expression', "self.text.matches('(a+)+$')"],
  ])('in time: %s is ended, and never begun again', (_, healthy) => {
    const x = Array.from({ length: 3_000 }, (__, index) => index);
    const rule = customRule({ kind: 'ConfigMap', healthy }, 0);
    const object = { x, text: `${'a'.repeat(60)}b` } as unknown as KubernetesObject;
    const { status, message } = rule(object);
    expect(status).toBe('InProgress');
    expect(message).toBe('spec.health.rules[0].healthy: takes longer than 50 ms');
    const start = cpuTime();
    for (let time = 0; time < 100; time += 1) rule(object);
    expect(cpuTime() - start).toBeLessThan(2_000);
  });
});

/** Each time around puts a value into the next one that often. */
function nested(text: string, body: (name: string) => string, times: number): string {
  let nest = text;
  for (let time = 0; time < times; time += 1)
    nest = `[${nest}].map(v${time}, ${body(`v${time}`)})[0]`;
  return nest;
}

describe('a message that grows without end', () => {
  test('is no text where it is a list', () => {
    const eight = (name: string) => `[${Array.from({ length: 8 }, () => name).join(', ')}]`;
    const start = cpuTime();
    expect(judged({ healthy: 'false', message: nested('[1, 2]', eight, 8) })).toContain(
      'rules[0].message: gives object: it must give a text)',
    );
    expect(cpuTime() - start).toBeLessThan(2_000);
  });

  test('is not read where it is long', () => {
    const twice = (name: string) => `${name} + ${name}`;
    const message = nested('self.text', twice, 9);
    expect(judged({ healthy: 'false', message }, { text: 'x'.repeat(10_000) })).toContain(
      'rules[0].message: gives a text of more than 1000000 characters)',
    );
  });
});

test.each([
  [{ healthy: 'true', message: "'x'" }, undefined],
  [{ healthy: 'selff.x' }, /^spec\.health\.rules\[3\]\.healthy is no CEL .*selff/],
  [{ healthy: 'true', message: '+' }, /^spec\.health\.rules\[3\]\.message is no CEL/],
])('what is wrong with %j is known before it is used', (rule, problem) => {
  const found = ruleProblem({ kind: 'Pod', ...rule }, 3);
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(problem);
});
