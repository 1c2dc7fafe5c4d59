import type { KubernetesObject } from '../../api/meta.ts';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { HookProgress } from '../../core/contracts/hooks.ts';
import { aBundleOf, BundleDeploymentFixture, objects } from './bundle-deployment-fixture.ts';

/** A Job as a hook, in namespace `n`. */
export function aHook(
  name: string,
  events: string,
  policy = 'before-hook-creation',
): KubernetesObject {
  const annotations = {
    'core.rukpak.io/hook': events,
    'core.rukpak.io/hook-delete-policy': policy,
  };
  const metadata = { name, namespace: 'n', annotations };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata };
}

/** When the clock of a test begins, and the run of its first hooks. */
export const begin = '2026-01-01T00:00:00.000Z';

export const hookStates = {
  running: { state: 'running', since: '2026-01-01T00:00:00Z' },
  succeeded: { state: 'succeeded' },
  broken: { state: 'failed', reason: 'too many tries' },
} as const;

/** Deployment `demo` with hooks, all of which succeed unless the test says otherwise. */
export class HookedDeployment {
  /** Another one in another process. */
  fixture = new BundleDeploymentFixture();
  /** The calls of the applier, in order. */
  readonly #calls: string[] = [];

  constructor(...hooks: readonly KubernetesObject[]) {
    this.fixture.have(aBundleOf());
    this.fixture.handler.mockResolvedValue([...objects, ...hooks]);
    this.#record();
  }

  /** Reconciles until no reconcile is due at once. */
  async settle(): Promise<{ requeueAfter?: number }> {
    for (;;) {
      const result = await this.fixture.reconcile();
      if (result.requeueAfter !== 0) return result;
    }
  }

  /**
   * The calls since the last time; a call that repeats the one before, as at the next reconcile,
   * counts once.
   */
  taken(): string[] {
    return this.#calls.splice(0).filter((call, index, all) => call !== all[index - 1]);
  }

  /** The next hooks do this, first to first; those after them succeed. */
  hooksDo(...states: readonly (HookProgress | Error)[]): void {
    const queue = [...states];
    this.fixture.applier.runHook.mockImplementation(async ({ hook, run }) => {
      this.#calls.push(`${hook.metadata.name} in ${run}`);
      const next = queue.shift() ?? hookStates.succeeded;
      if (next instanceof Error) throw next;
      return next;
    });
  }

  /** Replaces the process: the new one knows only the cluster. */
  restart(): void {
    const { live, client, handler } = this.fixture;
    const render = handler.getMockImplementation();
    this.fixture = new BundleDeploymentFixture(live);
    this.fixture.have(...(client.everything.filter(isBundle) as Bundle[]));
    this.fixture.handler.mockImplementation(render ?? (async () => []));
    this.#record();
  }

  #record(): void {
    const { applier } = this.fixture;
    applier.apply.mockImplementation(async ({ foundationOnly = false }) => {
      this.#calls.push(foundationOnly ? 'foundation' : 'apply');
      return { changes: 1, complete: !foundationOnly };
    });
    applier.remove.mockImplementation(async () => {
      this.#calls.push('remove');
      return {};
    });
    this.hooksDo();
  }
}

function isBundle({ kind }: KubernetesObject): boolean {
  return kind === 'Bundle';
}
