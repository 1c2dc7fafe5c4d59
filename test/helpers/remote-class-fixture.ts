import { expect } from 'vitest';
import { createRemoteProvisioner, type RemoteProvisioner } from '../../core/classes/index.ts';
import type { BundleFiles } from '../../core/contracts/bundle-files.ts';
import type { Clock } from '../../core/platform/clock.ts';
import { aBundle, aBundleDeployment, aContext, bundleFiles } from '../../testing/index.ts';
import { type AnswerCall, FakeClassServer } from './class-server.ts';

/** Class acme behind a URL, with a server whose answers a test gives. */
export class RemoteClassFixture {
  readonly files = bundleFiles({ 'a.txt': 'one', 'b/c.txt': 'two' }, ['empty']);
  readonly bundle = aBundle({ className: 'acme' });
  readonly deployment = aBundleDeployment({ className: 'acme', config: { replicas: 2 } });
  /** What was slept before other tries; no time passes. */
  readonly sleeps: readonly number[];
  server: FakeClassServer;
  readonly provisioner: RemoteProvisioner;

  private constructor(
    server: FakeClassServer,
    provisioner: RemoteProvisioner,
    sleeps: readonly number[],
  ) {
    this.server = server;
    this.provisioner = provisioner;
    this.sleeps = sleeps;
  }

  static async start(monotonic = (): number => 0): Promise<RemoteClassFixture> {
    const sleeps: number[] = [];
    const now = (): number => Date.now();
    const clock: Clock = { now, monotonic, sleep: async (ms) => void sleeps.push(ms) };
    const server = await FakeClassServer.start();
    const options = { className: 'acme', url: server.url, clock };
    return new RemoteClassFixture(server, await createRemoteProvisioner(options), sleeps);
  }

  async stop(): Promise<void> {
    await this.provisioner.close();
    await this.server.stop();
  }

  answering(path: string, answer: AnswerCall): void {
    this.server.answers.set(path, answer);
  }

  /** What the server says of itself besides the usual. */
  describing(description: object): void {
    this.server.description = { ...this.server.description, ...description };
  }

  async handleBundle(context = aContext()): Promise<BundleFiles> {
    return await this.provisioner.bundle!(this.files, this.bundle, context);
  }

  async handleConfigure(context = aContext()): Promise<BundleFiles> {
    return await this.provisioner.configure!(this.files, this.deployment, context);
  }

  async handleDeployment(context = aContext()): Promise<readonly object[]> {
    return await this.provisioner.deployment!(this.files, this.deployment, context);
  }
}

/** The first answers in turn; the last one for all that follow. */
export function inTurn(...answers: readonly AnswerCall[]): AnswerCall {
  let calls = 0;
  return (response, received) => {
    const answer = answers[Math.min(calls, answers.length - 1)];
    calls += 1;
    return answer?.(response, received);
  };
}

/** The content is stored as it is. */
export const unchanged: AnswerCall = (response) => void response.writeHead(204).end();

export async function thrownBy(work: Promise<unknown>): Promise<Error> {
  return await work.then(
    () => expect.fail('nothing was thrown'),
    (error: Error) => error,
  );
}
