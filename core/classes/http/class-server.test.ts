import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type AnswerCall,
  answerJson,
  FakeClassServer,
} from '../../../test/helpers/class-server.ts';
import {
  inTurn,
  RemoteClassFixture,
  thrownBy,
  unchanged,
} from '../../../test/helpers/remote-class-fixture.ts';
import { aContext } from '../../../testing/index.ts';
import { defaultLimits } from '../../content/index.ts';
import { TerminalError, WaitingError } from '../../errors.ts';
import type { InTurn, Turn } from '../../platform/runtime/index.ts';

let fixture: RemoteClassFixture;

function contextOf(
  creator: string,
  countdown?: Turn['countdown'],
): InTurn<ReturnType<typeof aContext>> {
  return { ...aContext(), turn: { creator, ...(countdown && { countdown }) } };
}

beforeEach(async () => {
  fixture = await RemoteClassFixture.start();
});

afterEach(() => fixture.stop());

describe('a server that refuses', () => {
  test('by 422 ends the tries, with its message and reason', async () => {
    const message = 'values.json:\u0000\n no\u202e \u001b[31msuch file';
    fixture.answering('/v1/bundle', (response) =>
      answerJson(response, { message, reason: 'BadValues' }, 422),
    );
    const error = await thrownBy(fixture.handleBundle());
    expect(error).toBeInstanceOf(TerminalError);
    expect(error).toMatchObject({
      message: `class "acme" at ${fixture.server.url}: values.json:  no   [31msuch file`,
      reason: 'BadValues',
    });
    expect(fixture.server.received).toHaveLength(2);
  });

  test('at length is cut short', async () => {
    fixture.answering('/v1/bundle', (response) =>
      answerJson(response, { message: 'x'.repeat(9_000) }, 422),
    );
    const { message } = await thrownBy(fixture.handleBundle());
    expect(message).toHaveLength(`class "acme" at ${fixture.server.url}: …`.length + 2_000);
  });

  test.each([
    [{ detail: 'not ours' }],
    [{ message: 'ours', reason: 'no reason' }],
    ['x'.repeat(100_000)],
  ])('by a 422 that is not the contract’s is tried again later', async (body) => {
    fixture.answering('/v1/bundle', (response) => answerJson(response, body, 422));
    const error = await thrownBy(fixture.handleBundle());
    expect(error).not.toBeInstanceOf(TerminalError);
    expect(error.message).toBe(
      `class "acme" at ${fixture.server.url} answered 422 Unprocessable Entity`,
    );
  });

  test('by a redirect is not followed', async () => {
    const elsewhere = await FakeClassServer.start();
    fixture.answering('/v1/bundle', (response) => {
      response.writeHead(307, { location: `${elsewhere.url}/v1/bundle` }).end();
    });
    const { message } = await thrownBy(fixture.handleBundle());
    expect(message).toContain('answered 307 Temporary Redirect: redirects are not followed');
    expect(elsewhere.received).toEqual([]);
    await elsewhere.stop();
  });

  test.each([401, 403])('our credentials by %i says where they are from', async (status) => {
    fixture.answering('/v1/bundle', (response) => void response.writeHead(status).end());
    await expect(fixture.handleBundle()).rejects.toThrow('--provisioner-url-credentials');
    expect(fixture.sleeps).toEqual([]);
  });
});

describe('a server that fails', () => {
  const failing =
    (status: number, headers: Readonly<Record<string, string>> = {}): AnswerCall =>
    (response) =>
      void response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end('oh no');

  test('by 500 is asked twice more', async () => {
    fixture.answering('/v1/bundle', failing(500));
    const error = await thrownBy(fixture.handleBundle());
    expect(error.message).toBe(
      `class "acme" at ${fixture.server.url} answered 500 Internal Server Error: oh no`,
    );
    expect(error).not.toBeInstanceOf(WaitingError);
    expect(fixture.sleeps).toEqual([200, 400]);
  });

  test.each([502, 504])('behind a proxy that says %i is waited for', async (status) => {
    fixture.answering('/v1/bundle', failing(status));
    expect(await thrownBy(fixture.handleBundle())).toBeInstanceOf(WaitingError);
    expect(fixture.sleeps).toEqual([200, 400]);
  });

  test('by 503 is asked again when it says', async () => {
    fixture.answering(
      '/v1/bundle',
      inTurn(failing(503, { 'retry-after': '3' }), failing(429), unchanged),
    );
    expect(await fixture.handleBundle()).toBe(fixture.files);
    expect(fixture.sleeps).toEqual([3_000, 400]);
  });

  test('for long is left to the reconciler', async () => {
    fixture.answering('/v1/bundle', failing(503, { 'retry-after': '600' }));
    const error = await thrownBy(fixture.handleBundle());
    expect(error).toBeInstanceOf(WaitingError);
    expect(error.message).toBe(
      `class "acme" at ${fixture.server.url} answered 503 Service Unavailable: oh no`,
    );
    expect(fixture.sleeps).toEqual([]);
  });

  test('to speak HTTP is told of', async () => {
    fixture.answering('/v1/bundle', (response) => void response.socket?.end('SSH-2.0-OpenSSH\r\n'));
    await expect(fixture.handleBundle()).rejects.toThrow(`class "acme" at ${fixture.server.url}: `);
  });

  test('to bound its headers is given up on', async () => {
    const headers = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`x-${index}`, 'y'.repeat(1_000)]),
    );
    fixture.answering('/v1/bundle', (response) => void response.writeHead(204, headers).end());
    await expect(fixture.handleBundle()).rejects.toThrow(/class "acme" at .*: .*Header/i);
  });
});

describe('a server that is not there', () => {
  test('is waited for, and found when it comes', async () => {
    const { port } = fixture.server;
    await fixture.server.stop();
    const error = await thrownBy(fixture.handleBundle());
    expect(error).toBeInstanceOf(WaitingError);
    expect(error.message).toBe(
      `class "acme" at http://127.0.0.1:${port}: dial tcp 127.0.0.1:${port}: connect: connection refused`,
    );
    expect(fixture.sleeps).toEqual([200, 400]);
    fixture.server = await FakeClassServer.start({}, port);
    fixture.answering('/v1/bundle', unchanged);
    expect(await fixture.handleBundle()).toBe(fixture.files);
  });

  test('while it is asked is asked again when it is', async () => {
    fixture.answering(
      '/v1/bundle',
      inTurn((response) => void response.socket?.destroy(), unchanged),
    );
    expect(await fixture.handleBundle()).toBe(fixture.files);
  });
});

describe('a server that is slow', () => {
  test('is given as long as the limit says', async () => {
    fixture.answering('/v1/bundle', () => undefined);
    const limits = { ...defaultLimits, timeout: 300 };
    await expect(fixture.handleBundle(aContext({ limits }))).rejects.toThrow(
      `class "acme" at ${fixture.server.url} took longer than the limit of 0.3 s (--content-timeout)`,
    );
  });

  test('in the middle of its answer, too', async () => {
    fixture.answering('/v1/deployment', (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 50 });
      response.write('[');
    });
    const limits = { ...defaultLimits, timeout: 300 };
    await expect(fixture.handleDeployment(aContext({ limits }))).rejects.toThrow(
      'took longer than',
    );
  });

  test('is left when nobody waits any more', async () => {
    let closed = false;
    fixture.answering('/v1/bundle', (response) => void response.on('close', () => (closed = true)));
    const stop = new AbortController();
    const work = fixture.handleBundle(aContext({ signal: stop.signal }));
    await expect.poll(() => fixture.server.received.length).toBe(2);
    stop.abort(new Error('the Bundle is being deleted'));
    await expect(work).rejects.toThrow(new Error('the Bundle is being deleted'));
    await expect.poll(() => closed).toBe(true);
  });

  test('keeps only the creator waiting who has made it slow, and others have their turns', async () => {
    const held: ServerResponse[] = [];
    const hold: AnswerCall = (response) => void held.push(response);
    fixture.answering('/v1/bundle', inTurn(hold, hold, hold, hold, unchanged));
    const all = Array.from({ length: 8 }, () => fixture.handleBundle(contextOf('slow')));
    await expect.poll(() => held.length).toBe(4);
    expect(await fixture.handleBundle(contextOf('other'))).toBe(fixture.files);
    expect(held).toHaveLength(4);
    for (const response of held) response.writeHead(204).end();
    expect(await Promise.all(all)).toEqual(Array.from({ length: 8 }, () => fixture.files));
  });

  test('may let another request wait for longer than its limit', async () => {
    const held: ServerResponse[] = [];
    const hold: AnswerCall = (response) => void held.push(response);
    fixture.answering('/v1/bundle', inTurn(hold, hold, hold, hold, unchanged));
    const first = Array.from({ length: 4 }, () => fixture.handleBundle(contextOf('a')));
    await expect.poll(() => held.length).toBe(4);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const waits = Promise.withResolvers<void>();
      const countdown: Turn['countdown'] = {
        uncounted: async (waiting) => {
          waits.resolve();
          return await waiting();
        },
      };
      const fifth = fixture.handleBundle(contextOf('a', countdown));
      await waits.promise;
      vi.advanceTimersByTime(10 * defaultLimits.timeout);
      for (const response of held) response.writeHead(204).end();
      expect(await fifth).toBe(fixture.files);
    } finally {
      vi.useRealTimers();
    }
    await Promise.all(first);
  });

  test('has four requests of one creator at once', async () => {
    const waiting: ServerResponse[] = [];
    let most = 0;
    fixture.answering('/v1/bundle', (response) => {
      waiting.push(response);
      most = Math.max(most, waiting.length);
    });
    const all = Promise.all(Array.from({ length: 9 }, () => fixture.handleBundle()));
    for (let answered = 0; answered < 9; ) {
      await delay(20);
      // No more come for as long as nobody is answered.
      if (waiting.length < Math.min(4, 9 - answered)) continue;
      answered += waiting.length;
      for (const response of waiting.splice(0)) response.writeHead(204).end();
    }
    await all;
    expect(most).toBe(4);
  });
});

describe('what a server says of itself', () => {
  test.each([
    [{ className: 'other' }, 'it serves class "other": correct --provisioner-url'],
    [
      { contractVersion: 2 },
      'it serves version 2 of the contract, and this manager knows version 1',
    ],
    [
      { handlers: ['apply'] },
      'the answer to GET v1/class is not a valid class description: handlers.0',
    ],
    [{ handlers: ['deployment'] }, 'serves no Bundles: its handlers are [deployment]'],
    [{ handlers: ['configure'] }, 'its handlers have "configure" and not "bundle"'],
    [{ handlers: ['bundle', 'inputs'] }, 'its handlers have "inputs" and not "deployment"'],
  ])('a server that says of itself %j fails the object', async (description, text) => {
    const fixture = await RemoteClassFixture.start();
    fixture.describing(description);
    await expect(fixture.handleBundle()).rejects.toThrow(`class "acme" at ${fixture.server.url}`);
    await expect(fixture.handleBundle()).rejects.toThrow(text);
    await fixture.stop();
  });

  test("a server's description is read once a second", async () => {
    let now = 0;
    const fixture = await RemoteClassFixture.start(() => now);
    fixture.answering('/v1/bundle', unchanged);
    for (const time of [0, 900, 1_100]) {
      now = time;
      await fixture.handleBundle();
    }
    const asked = fixture.server.received.filter(({ call }) => call === 'GET /v1/class');
    expect(asked).toHaveLength(2);
    await fixture.stop();
  });

  test('a server that a version with other handlers and uses has replaced is noticed', async () => {
    let now = 0;
    const fixture = await RemoteClassFixture.start(() => now);
    fixture.describing({ handlers: ['deployment'] });
    const inputs = () => fixture.provisioner.inputs!(fixture.deployment, aContext());
    expect(await inputs()).toEqual([]);
    expect(fixture.provisioner.uses).toEqual([]);
    fixture.describing({ handlers: ['deployment', 'inputs'], uses: ['seed'] });
    const references = [{ kind: 'Secret', name: 'db', key: 'password' }];
    fixture.answering('/v1/inputs', (response) => answerJson(response, references));
    now = 1_100;
    expect(await inputs()).toEqual(references);
    expect(fixture.provisioner.uses).toEqual(['seed']);
    await fixture.stop();
  });
});
