import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../eventually.ts';
import { goReference } from '../go-reference.ts';
import { conditionOf, type Kubectl } from '../kubectl.ts';

const goModule = import.meta.dirname;
const path = 'github.com/cert-manager/cert-manager';
/** Of what it stores for ClusterIssuers. */
const namespace = 'cert-manager';

export interface CertManagerOptions {
  readonly kubectl: Kubectl;
  readonly kubeconfig: string;
}

/**
 * cert-manager in the version of go.mod, without the kinds of ACME and without its webhook, which
 * only refuses invalid objects: its CRDs, and its controllers and cainjector in one process.
 */
export class CertManager {
  readonly #options: CertManagerOptions;
  readonly #crds: readonly string[];
  readonly #process: ChildProcess;
  #log = '';

  /** Builds it first, which takes minutes, once. */
  static async start(options: CertManagerOptions): Promise<CertManager> {
    const program = await goReference(goModule);
    const crds = await crdFiles();
    await CertManager.#install(options.kubectl, crds);
    const env = { KUBECONFIG: options.kubeconfig };
    const child = spawn(program, [], { env, stdio: 'pipe' });
    return new CertManager(options, crds, child);
  }

  static async #install(kubectl: Kubectl, crds: readonly string[]): Promise<void> {
    await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const files = crds.flatMap((file) => ['-f', file]);
    await kubectl.must(['apply', '--server-side', ...files]);
    await kubectl.must(['wait', '--for=condition=Established', '--timeout=180s', ...files]);
  }

  private constructor(options: CertManagerOptions, crds: readonly string[], child: ChildProcess) {
    this.#options = options;
    this.#crds = crds;
    this.#process = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.#log += chunk.toString('utf8')));
    }
  }

  /** Waits until all Certificates are issued as their specs are now. */
  async issued(): Promise<void> {
    await eventually(async () => {
      if (this.#process.exitCode !== null) throw new Error(`cert-manager ended:\n${this.#log}`);
      for (const each of await this.#options.kubectl.list('certificates.cert-manager.io')) {
        const ready = conditionOf(each, 'Ready');
        const isOfSpec = ready?.observedGeneration === each.metadata.generation;
        if (ready?.status !== 'True' || !isOfSpec) {
          throw new Error(`${each.metadata.name}: ${ready?.message}\n${this.#log}`);
        }
      }
    });
  }

  /** Ends it, and removes its CRDs with all their objects. */
  async remove(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, 'exit');
      this.#process.kill('SIGKILL');
      await ended;
    }
    const files = this.#crds.flatMap((file) => ['-f', file]);
    const { kubectl } = this.#options;
    await kubectl.must(['delete', '--ignore-not-found', ...files]);
    await kubectl.deleteNamed('namespace', [namespace], { ignoreNotFound: true });
  }
}

/** Has a Certificate issued again, as `cmctl renew` does. */
export async function renewCertificate(
  kubectl: Kubectl,
  name: string,
  namespace: string,
): Promise<void> {
  const value = {
    type: 'Issuing',
    status: 'True',
    reason: 'ManuallyTriggered',
    message: 'Certificate re-issuance manually triggered',
    lastTransitionTime: new Date().toISOString().replace(/\.\d+/, ''),
  };
  const patch = JSON.stringify([{ op: 'add', path: '/status/conditions/-', value }]);
  const target = ['certificate', name, `--namespace=${namespace}`, '--subresource=status'];
  await kubectl.must(['patch', ...target, '--type=json', '-p', patch]);
}

/** In Go's cache of modules. */
async function crdFiles(): Promise<readonly string[]> {
  const options = { cwd: goModule, env: { ...process.env, GOWORK: 'off' } };
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', path], options);
  const folder = join((JSON.parse(stdout) as { readonly Dir: string }).Dir, 'deploy/crds');
  return (await readdir(folder))
    .filter((name) => /^cert-manager\.io_.*\.yaml$/.test(name))
    .map((name) => join(folder, name));
}
