import { setImmediate as othersTurn } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../../api/meta.ts';
import { inProcessJudge } from '../../../../test/helpers/in-process-judge.ts';
import { ManualClock } from '../../../../test/helpers/manual-clock.ts';
import type { JudgeRequest, ObjectJudge, Verdict } from '../../../contracts/object-judge.ts';
import type { Resource } from '../../../platform/kube/index.ts';
import { Inventory } from '../../inventory/inventory.ts';
import { objectID } from '../../objects/object-id.ts';
import { OwnVerdicts } from './own-verdicts.ts';

const widgets: Resource = {
  group: 'acme.example',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: false,
};
const evaluating = 'InProgress: spec.health is being evaluated';

/** A judge that answers when the test says so. */
class SlowJudge implements ObjectJudge {
  readonly requests: (JudgeRequest & PromiseWithResolvers<readonly Verdict[]>)[] = [];

  async judge(request: JudgeRequest): Promise<readonly Verdict[]> {
    const call = { ...request, ...Promise.withResolvers<readonly Verdict[]>() };
    this.requests.push(call);
    return await call.promise;
  }

  /** Answers the last request, as the rules say. */
  async answer(): Promise<void> {
    const last = this.requests.at(-1)!;
    last.resolve(await inProcessJudge.judge(last));
    await settled();
  }

  async fail(message: string): Promise<void> {
    this.requests.at(-1)!.reject(new Error(message));
    await settled();
  }
}

let judge: SlowJudge;
let clock: ManualClock;
let told: string[];
let verdicts: OwnVerdicts;
let version: number;

beforeEach(() => {
  [judge, clock, told, version] = [new SlowJudge(), new ManualClock(), [], 0];
  verdicts = made();
});

function made(): OwnVerdicts {
  return new OwnVerdicts({
    owner: 'demo',
    creator: 'user alice',
    rules: [{ kind: 'Widget', healthy: 'self.ready' }],
    judge,
    clock,
    signal: new AbortController().signal,
    onJudged: (id) => void told.push(id),
  });
}

/** Waits for all work except that of the judge or the clock. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await othersTurn();
}

interface Seen {
  readonly ready: boolean;
  readonly name?: string;
  readonly uid?: string;
  /** Digest of the bundle's object. */
  readonly digest?: string;
}

/** A new version of an object, and its verdict. */
function seen({ ready, name = 'w', uid = 'u', digest = 'd' }: Seen): () => string {
  version += 1;
  const key = { name };
  const resource = widgets;
  const record = {
    id: objectID(widgets, key),
    owner: 'demo',
    resource,
    key,
    digest,
    projection: '',
    problem: undefined,
  };
  const metadata = { name, uid, resourceVersion: `${version}` };
  const entry = new Inventory().put(widgets, {
    apiVersion: 'acme.example/v1',
    kind: 'Widget',
    metadata,
    ready,
  } satisfies KubernetesObject & { readonly ready: boolean });
  return () => {
    const { status, message } = verdicts.status(0, record, entry);
    return `${status}: ${message}`;
  };
}

test('a verdict that is not there yet comes, and is told of', async () => {
  const status = seen({ ready: true });
  expect(status()).toBe(evaluating);
  await settled();
  expect(told).toEqual([]);
  await judge.answer();
  expect(told).toHaveLength(1);
  expect(status()).toBe('Current: Resource is current');
  expect(judge.requests).toHaveLength(1);
});

test('what is asked for in one turn is asked for at once, up to 256 objects', async () => {
  const all = Array.from({ length: 300 }, (_, index) => seen({ ready: true, name: `w${index}` }));
  for (const status of all) status();
  await settled();
  expect(judge.requests.map(({ objects }) => objects.length)).toEqual([256]);
  await judge.answer();
  expect(judge.requests.map(({ objects }) => objects.length)).toEqual([256, 44]);
  await judge.answer();
  expect(new Set(all.map((status) => status()))).toEqual(new Set(['Current: Resource is current']));
});

test('a change of status shows when it is judged: until then the earlier verdict counts', async () => {
  seen({ ready: true })();
  await settled();
  await judge.answer();
  const changed = seen({ ready: false });
  expect(changed()).toBe('Current: Resource is current');
  await settled();
  await judge.answer();
  expect(changed()).toBe('InProgress: spec.health.rules[0].healthy does not hold');
});

test('an earlier verdict counts for ten seconds', async () => {
  seen({ ready: true })();
  await settled();
  await judge.answer();
  const changed = seen({ ready: true });
  expect(changed()).toBe('Current: Resource is current');
  clock.advance(10_000);
  expect(changed()).toBe('Current: Resource is current');
  clock.advance(1);
  expect(changed()).toBe(evaluating);
});

test('what was healthy before an upgrade is not healthy after it', async () => {
  seen({ ready: true })();
  await settled();
  await judge.answer();
  expect(seen({ ready: true, digest: 'upgraded' })()).toBe(evaluating);
  // Nor when it returns: no rule has judged it since.
  expect(seen({ ready: true })()).toBe(evaluating);
});

test('nor is an object of the same name that was made anew', async () => {
  seen({ ready: true })();
  await settled();
  await judge.answer();
  expect(seen({ ready: true, uid: 'other' })()).toBe(evaluating);
});

test('a write of ours that changes nothing leaves the verdict', async () => {
  const status = seen({ ready: true });
  status();
  await settled();
  await judge.answer();
  version -= 1;
  expect(seen({ ready: true, digest: 'upgraded' })()).toBe('Current: Resource is current');
});

test('rules that fail say so for every object without a verdict, and are tried again later', async () => {
  const [status, other] = [seen({ ready: true }), seen({ ready: true, name: 'other' })];
  status();
  await settled();
  other();
  await judge.fail('too much');
  expect(status()).toBe('InProgress: too much');
  expect(other()).toBe('InProgress: too much');
  expect(told).toHaveLength(2);
  const pauses = [10, 20, 40, 80, 160, 320, 600, 600];
  for (const [tries, pause] of pauses.entries()) {
    seen({ ready: true })();
    clock.advance(pause * 1_000 - 1);
    await settled();
    expect(judge.requests).toHaveLength(tries + 1);
    clock.advance(1);
    await settled();
    expect(judge.requests).toHaveLength(tries + 2);
    await judge.fail('too much');
  }
  clock.advance(600_000);
  await settled();
  await judge.answer();
  expect(other()).toBe('Current: Resource is current');
});

test('a verdict of before counts no longer where the rules fail', async () => {
  seen({ ready: true })();
  await settled();
  await judge.answer();
  const changed = seen({ ready: true });
  changed();
  await settled();
  await judge.fail('too much');
  expect(changed()).toBe('InProgress: too much');
});

test('nothing is asked of the judge once the rules have ended, nor told of', async () => {
  seen({ ready: true })();
  await settled();
  verdicts.end();
  await judge.answer();
  expect(judge.requests[0]?.signal.aborted).toBe(true);
  expect(told).toEqual([]);
  seen({ ready: true })();
  await settled();
  expect(judge.requests).toHaveLength(1);
});

test('what the owner no longer has is forgotten', async () => {
  const status = seen({ ready: true });
  status();
  await settled();
  await judge.answer();
  verdicts.keepOnly(new Set());
  expect(status()).toBe(evaluating);
});
