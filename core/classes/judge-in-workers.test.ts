// @module-tag process
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { HealthRule } from '../../api/v1alpha1/deployment-policies.ts';
import { ampleMemory } from '../../test/helpers/ample-memory.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import type { Verdict } from '../contracts/object-judge.ts';
import { errorMessage } from '../errors.ts';
import { systemClock } from '../platform/clock.ts';
import { judgeInWorkers, type WorkerJudge } from './judge-in-workers.ts';

const module = new URL('../apply/health/rules/judge-objects.ts', import.meta.url);
const { signal } = new AbortController();

let judge: WorkerJudge;

const options = { memory: ampleMemory(), clock: systemClock, logger: silentLogger };

beforeEach(() => {
  judge = judgeInWorkers({ ...options, module });
});

afterEach(async () => {
  await judge.close();
});

type Expressions = Omit<HealthRule, 'kind'>;

async function judged(rule: Expressions, ...objects: readonly object[]): Promise<string[]> {
  const verdicts = await judge.judge({
    owner: 'demo',
    creator: 'user alice',
    rules: [{ kind: 'Widget', ...rule }],
    objects: objects.map((object) => ({ rule: 0, json: JSON.stringify(object) })),
    signal,
  });
  return verdicts.map(({ status, message }: Verdict) => `${status}: ${message}`);
}

async function problemOf(rule: Expressions, object: object): Promise<string> {
  try {
    return (await judged(rule, object)).join();
  } catch (error) {
    return errorMessage(error);
  }
}

/** A text of the object, 2^times as long. */
function doubled(times: number): string {
  let text = 'self.text';
  for (let time = 0; time < times; time += 1) text = `cel.bind(v, ${text}, v + v)`;
  return text;
}

/** A text a thousand times as long as one is estimated to be. */
const longText = { text: 'x'.repeat(1_000_000) };

const healthy = 'Current: Resource is current';
const callee = 'spec.health of BundleDeployment demo';
const needsMemory = `${callee} needs more than 128 MiB of memory for this content: make the expressions of spec.health simpler`;
const needsTime = `${callee} takes more than 5 s of processor time for this content: make the expressions of spec.health simpler`;

test('objects are judged in their order', async () => {
  const objects = Array.from({ length: 600 }, (_, index) => ({ ready: index % 2 === 0 }));
  const verdicts = await judged({ healthy: 'self.ready', message: "'näh'" }, ...objects);
  expect(verdicts).toEqual(objects.map(({ ready }) => (ready ? healthy : 'InProgress: näh')));
});

test('an expression that is too expensive is not evaluated, admitted or not', async () => {
  const loops = 'self.x.all(a, self.x.all(b, self.x.all(c, self.x.all(d, true))))';
  expect(await judged({ healthy: loops }, { x: [] })).toEqual([
    'Failed: spec.health.rules[0].healthy is too expensive: its estimated cost of 104040403 exceeds the limit of 10000000. Use fewer lists inside of lists, and shorter texts',
  ]);
});

test('an error that quotes a whole text is cut', async () => {
  const [verdict] = await judged({ healthy: 'bool(self.text)' }, longText);
  expect(verdict).toMatch(/^InProgress: spec\.health\.rules\[0\]\.healthy: bool\(\) .*x{500}/);
});

describe('an object that is larger than the estimate assumes fails its own deployment alone', () => {
  test.each([
    ['a text in its characters', `${doubled(9)}.split('').size() > 0`, needsMemory],
    ['a text as bytes', `bytes(${doubled(9)}).size() > 0`, needsMemory],
    ['two texts', `${doubled(9)} + 'a' == ${doubled(9)} + 'b'`, needsMemory],
    ['a pattern', "self.text.matches('(x+x+)+y')", needsTime],
  ])('%s', async (_, expression, problem) => {
    const attack = problemOf({ healthy: expression }, longText);
    const good = async (): Promise<string[]> =>
      await judged({ healthy: 'self.ready' }, { ready: true });
    expect(await good()).toEqual([healthy]);
    expect(await attack).toBe(problem);
    expect(await good()).toEqual([healthy]);
  });
});

/** Never answers about an object with `endless`. */
const endlessJudge = `
export default (rules, objects) => Array.from(objects, ({ json }) => {
  if (JSON.parse(json).endless) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  return { status: 'Current', message: '' };
});
`;

test('one creator whose rules hold all processes keeps no other one waiting', async () => {
  const endlessModule = new URL(`data:text/javascript,${encodeURIComponent(endlessJudge)}`);
  const shared = judgeInWorkers({ ...options, module: endlessModule });
  const asked = async (creator: string, object: object) =>
    await shared.judge({
      owner: 'demo',
      creator,
      rules: [{ kind: 'Widget', healthy: 'true' }],
      objects: [{ rule: 0, json: JSON.stringify(object) }],
      signal,
    });
  const endless = Array.from({ length: 10 }, async () => await asked('mallory', { endless: true }));
  const ends = Promise.allSettled(endless);
  onTestFinished(async () => {
    await shared.close();
    await ends;
  });
  expect(await asked('alice', {})).toEqual([{ status: 'Current', message: '' }]);
});
