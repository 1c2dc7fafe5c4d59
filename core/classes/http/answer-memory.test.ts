import { afterEach, beforeEach, expect, test } from 'vitest';
import { type AnswerCall, FakeClassServer } from '../../../test/helpers/class-server.ts';
import { inTurn, thrownBy } from '../../../test/helpers/remote-class-fixture.ts';
import { aBundleDeployment, aContext, bundleFiles } from '../../../testing/index.ts';
import { tarParts } from '../../content/index.ts';
import { WaitingError } from '../../errors.ts';
import { systemClock } from '../../platform/clock.ts';
import { ByteBudget } from '../../platform/runtime/index.ts';
import { openRemoteClass, type RemoteProvisioner } from './remote-provisioner.ts';

const mebibyte = 1024 * 1024;
const deployment = aBundleDeployment({ className: 'acme' });

let server: FakeClassServer;
let memory: ByteBudget;
let provisioner: RemoteProvisioner;
/** Bytes of the budget when objects are made of an answer. */
let takenAtReading: number | undefined;
/** Why no objects can be made of answers, if so. */
let failure: Error | undefined;

beforeEach(async () => {
  const description = { handlers: ['bundle', 'configure', 'deployment'] };
  server = await FakeClassServer.start({ description });
  memory = new ByteBudget({ bytes: 4 * mebibyte, clock: systemClock });
  takenAtReading = undefined;
  failure = undefined;
  const readObjects = async (): Promise<readonly []> => {
    takenAtReading = memory.taken;
    if (failure !== undefined) throw failure;
    return [];
  };
  const reader = { readObjects, memory, close: async () => undefined };
  const clock = { ...systemClock, sleep: async () => undefined };
  provisioner = await openRemoteClass({ className: 'acme', url: server.url, clock }, reader);
});

afterEach(async () => {
  await provisioner.close();
  await server.stop();
});

/** Sends a part of an answer, and the rest when it is told to. */
function inParts(type: string, body: Uint8Array, rest: Promise<void>): AnswerCall {
  return async (response) => {
    response.writeHead(200, { 'content-type': type, 'content-length': body.byteLength });
    response.write(body.subarray(0, mebibyte));
    await rest;
    response.end(body.subarray(mebibyte));
  };
}

const body = Buffer.alloc(3 * mebibyte, ' ');

async function deploy(): Promise<unknown> {
  return await provisioner.deployment!(bundleFiles({}), deployment, aContext());
}

test('an answer counts as it arrives, and until objects are made of it', async () => {
  const { promise: rest, resolve: goOn } = Promise.withResolvers<void>();
  server.answers.set('/v1/deployment', inParts('application/json', body, rest));
  const deploying = deploy();
  await expect.poll(() => memory.taken).toBe(mebibyte);
  goOn();
  await deploying;
  expect(takenAtReading).toBe(body.byteLength);
  expect(memory.taken).toBe(0);
});

test('adapted content counts as it arrives', async () => {
  const { promise: rest, resolve: goOn } = Promise.withResolvers<void>();
  const tar = Buffer.concat([...tarParts([{ path: 'a', content: body }])]);
  server.answers.set('/v1/configure', inParts('application/x-tar', tar, rest));
  const configuring = provisioner.configure!(bundleFiles({}), deployment, aContext());
  await expect.poll(() => memory.taken).toBeGreaterThanOrEqual(mebibyte);
  goOn();
  expect((await configuring).files.get('a')?.byteLength).toBe(body.byteLength);
  expect(memory.taken).toBe(0);
});

test('an answer that comes at the second try counts once', async () => {
  const broken: AnswerCall = (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 9e6 });
    response.write(body.subarray(0, mebibyte), () => response.destroy());
  };
  const whole = inParts('application/json', body, Promise.resolve());
  server.answers.set('/v1/deployment', inTurn(broken, whole));
  await deploy();
  expect(takenAtReading).toBe(body.byteLength);
});

test('an answer waits for memory that others have', async () => {
  const other = memory.open({ kind: 'work' });
  other.set(3.5 * mebibyte);
  const whole = inParts('application/json', body, Promise.resolve());
  server.answers.set('/v1/deployment', whole);
  const deploying = deploy();
  await expect.poll(() => memory.waiting).toBe(1);
  other.release();
  await deploying;
  expect(takenAtReading).toBe(body.byteLength);
});

test('an answer that its server delays is given up for others, and asked for later', async () => {
  const never = new Promise<void>(() => undefined);
  server.answers.set('/v1/deployment', inParts('application/json', body, never));
  const failing = thrownBy(deploy());
  await expect.poll(() => memory.taken).toBe(mebibyte);
  memory.open({ kind: 'work' }).set(4 * mebibyte);
  const error = await failing;
  expect(error).toBeInstanceOf(WaitingError);
  expect(error.message).toContain('waiting for memory: all 4 MiB');
  expect(memory.taken).toBe(4 * mebibyte);
  expect(takenAtReading).toBeUndefined();
});

test('an answer whose reading was ended for the memory of others is asked for later', async () => {
  failure = new WaitingError('waiting for memory: all is in use');
  server.answers.set('/v1/deployment', inParts('application/json', body, Promise.resolve()));
  expect(await thrownBy(deploy())).toBe(failure);
  expect(memory.taken).toBe(0);
});
