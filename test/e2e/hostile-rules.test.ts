import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Condition } from '../../api/meta.ts';
import type { HealthRule } from '../../api/v1alpha1/deployment-policies.ts';
import { eventually } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { LoopTurns } from '../helpers/loop-turns.ts';
import { aBundleDeployment, aConfigMap } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { RukpakProcess } from '../helpers/rukpak-run.ts';
import { System } from '../helpers/system.ts';

/** Rules of spec.health by those who want to end core, or to keep it from others. */
let system: System;
let kubectl: Kubectl;
let turns: LoopTurns;

class MeasuredProcess extends RukpakProcess {
  constructor(args: readonly string[], path: string) {
    super(args, path, turns.env);
  }
}

const within = 240_000;

beforeAll(async () => {
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  const { kubeconfig, registry } = plane;
  turns = await LoopTurns.prepare();
  system = await System.start({ kubeconfig, registry, run: MeasuredProcess });
});

afterAll(async () => {
  for (const kind of ['bundledeployments', 'bundles']) {
    await kubectl.deleteAll(kind, { ignoreNotFound: true });
  }
  await system.stop();
  await turns[Symbol.asyncDispose]();
});

interface Judged {
  readonly name: string;
  readonly objects: readonly object[];
  readonly rule: Omit<HealthRule, 'kind'>;
}

async function deployment({ name, objects, rule }: Judged): Promise<object> {
  const { registry } = plane;
  const source = await pushContent({ registry, name, version: 1, files: plainFiles(objects) });
  const made = aBundleDeployment({ name, source }) as { spec: object };
  const rules = [{ kind: 'ConfigMap', ...rule }];
  return { ...made, spec: { ...made.spec, health: { rules } } };
}

async function install(judged: Judged): Promise<void> {
  await kubectl.apply(await deployment(judged));
}

async function conditionFor(name: string): Promise<Condition | undefined> {
  return conditionOf(await kubectl.get('bundledeployment', name), 'Healthy');
}

async function healthOf(name: string): Promise<string> {
  const found = await conditionFor(name);
  return `${found?.status}: ${found?.message}`;
}

async function says(name: string, text: string): Promise<void> {
  await eventually(async () => expect(await healthOf(name)).toContain(text), { within });
}

/** That a deployment with a rule that holds becomes healthy. */
async function goodOneIsHealthy(name: string): Promise<void> {
  const rule = { healthy: "self.data.phase == 'up'" };
  await install({ name, objects: [aConfigMap(name, { phase: 'up' })], rule });
  await says(name, 'True: BundleDeployment is healthy');
}

/** A text of the object, 2^times as long. */
function doubled(times: number): string {
  let text = 'self.data.text';
  for (let time = 0; time < times; time += 1) text = `cel.bind(v, ${text}, v + v)`;
  return text;
}

test('a rule that is too expensive is refused, with the estimate and the limit', async () => {
  const rule = { healthy: `${doubled(20)}.split('').size() > 0` };
  const made = await deployment({ name: 'bomb', objects: [aConfigMap('bomb')], rule });
  await expect(kubectl.apply(made)).rejects.toThrow(
    /spec\.health\.rules\[0\]\.healthy is too expensive: its estimated cost of \d+ exceeds the limit of 10000000/,
  );
});

test('a restart of core leaves healthy what is healthy', async () => {
  await goodOneIsHealthy('restarted');
  const { lastTransitionTime } = (await conditionFor('restarted')) ?? {};
  await system.terminate();
  await system.restart();
  await goodOneIsHealthy('after-the-restart');
  expect(await conditionFor('restarted')).toMatchObject({ status: 'True', lastTransitionTime });
});

test('rules that pass the estimate and exhaust their process fail alone', {
  tags: 'long',
}, async () => {
  const text = 'x'.repeat(900_000);
  const bombs = {
    split: `${doubled(9)}.split('').size() > 0`,
    bytes: `bytes(${doubled(9)}).size() > 0`,
    equal: `${doubled(9)} + 'a' == ${doubled(9)} + 'b'`,
    pattern: "self.data.text.matches('(x+x+)+y')",
  };
  const { pid } = system;
  for (const [name, healthy] of Object.entries(bombs)) {
    await install({ name, objects: [aConfigMap(`rule-${name}`, { text })], rule: { healthy } });
  }
  await goodOneIsHealthy('neighbour');
  for (const name of ['split', 'bytes', 'equal']) await says(name, 'more than 128 MiB of memory');
  await says('pattern', 'more than 5 s of processor time');
  // Of core itself: neither it nor its replacement was ended.
  expect(system.pid).toBe(pid);
  await goodOneIsHealthy('late-neighbour');
});

test('1,500 objects with rules hold nobody up', { tags: 'long' }, async () => {
  const objects = Array.from({ length: 1_500 }, (_, index) =>
    aConfigMap(`many-${index}`, { phase: 'up', text: 'x'.repeat(1_000) }),
  );
  // Loads what every first deployment loads.
  await goodOneIsHealthy('first-neighbour');
  await turns.longest(system.pid);
  const stop = new AbortController();
  const watched = slowestAnswer(stop.signal);
  const rule = { healthy: "self.data.text.split('').filter(c, c == 'x').size() == 1000" };
  await install({ name: 'many', objects, rule });
  await goodOneIsHealthy('small-neighbour');
  await says('many', 'True: BundleDeployment is healthy');
  stop.abort();
  // A busy machine may be slow; what evaluated them in core took from 18 to 64 s.
  expect(await watched).toBeLessThan(5_000);
  // Milliseconds of processor time: with a processor of its own, /healthz answers in that time. It
  // takes 20 to 56, the longest on a machine that takes 1.3 to 1.8 times as long for the same work.
  expect(await turns.longest(system.pid)).toBeLessThan(1_000);
});

/** Milliseconds that /healthz took at most, asked again and again. */
async function slowestAnswer(signal: AbortSignal): Promise<number> {
  let slowest = 0;
  while (!signal.aborted) {
    const start = performance.now();
    await (await fetch(`${system.healthAddress}/healthz`)).text();
    slowest = Math.max(slowest, performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return slowest;
}
