import { expect, onTestFinished, test } from 'vitest';
import { FakeClassServer } from '../../test/helpers/class-server.ts';
import { aBundleDeployment, aContext, bundleFiles } from '../../testing/index.ts';
import { systemClock } from '../platform/clock.ts';
import { ByteBudget } from '../platform/runtime/index.ts';
import { createRemoteProvisioner } from './index.ts';

/** Milliseconds of this thread's processor time in the longest turn of its event loop. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [longest, before] = [0, process.threadCpuUsage()];
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
    before = process.threadCpuUsage();
  }, 1);
  await work();
  clearInterval(timer);
  const { user, system } = process.threadCpuUsage(before);
  return Math.max(longest, (user + system) / 1000);
}

test('a large answer of a hostile server is read elsewhere: this process goes on', {
  tags: ['process'],
}, async () => {
  const server = await FakeClassServer.start({ description: { handlers: ['deployment'] } });
  onTestFinished(() => server.stop());
  const provisioner = await createRemoteProvisioner({ className: 'acme', url: server.url });
  onTestFinished(() => provisioner.close());
  const answer = `[${'{},'.repeat(2_000_000)}{}]`;
  server.answers.set('/v1/deployment', (response) => {
    response.setHeader('content-type', 'application/json').end(answer);
  });
  const deployment = aBundleDeployment({ className: 'acme' });
  const longest = await longestTurn(async () => {
    const reading = provisioner.deployment!(bundleFiles({}), deployment, aContext());
    await expect(reading).rejects.toThrow(
      /^class "acme" at .*: unable to decode "answer.json": Object 'Kind' is missing in '{}'$/,
    );
  });
  expect(longest).toBeLessThan(150);
});

test('an answer that takes too much memory is named, and not core’s reader of it', {
  tags: ['process'],
}, async () => {
  const server = await FakeClassServer.start({ description: { handlers: ['deployment'] } });
  onTestFinished(() => server.stop());
  const memory = new ByteBudget({ bytes: 64 * 1024 * 1024, clock: systemClock });
  const options = { className: 'acme', url: server.url, memory };
  const provisioner = await createRemoteProvisioner(options);
  onTestFinished(() => provisioner.close());
  const answer = `[${'{},'.repeat(2_000_000)}{}]`;
  server.answers.set('/v1/deployment', (response) => {
    response.setHeader('content-type', 'application/json').end(answer);
  });
  const deployment = aBundleDeployment({ className: 'acme' });
  await expect(provisioner.deployment!(bundleFiles({}), deployment, aContext())).rejects.toThrow(
    /^class "acme" at .*: its answer needs more than 32 MiB of memory for this content: make it smaller or split it$/,
  );
});
