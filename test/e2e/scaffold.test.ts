// @module-tag long
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, patiently } from '../helpers/eventually.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { type NewProject, newProject } from '../helpers/new-project.ts';
import { OwnProcess } from '../helpers/own-process.ts';
import { packedPackage } from '../helpers/packed-package.ts';
import { plane } from '../helpers/plane.ts';
import { writeKubeconfig } from '../helpers/service-account.ts';
import { System } from '../helpers/system.ts';

const name = 'acme-site';
let project: NewProject;

/** npm installs over the network; milliseconds. */
const npmTime = 900_000;

/** What the howto's commands have taken so far, in milliseconds. */
const walk = new Map<string, number>();

async function step<T>(title: string, take: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const result = await take();
  walk.set(title, Math.round(performance.now() - begun));
  return result;
}

beforeAll(async () => {
  // A user has the package from somebody else.
  await packedPackage();
  project = await step('provisioner new', () => newProject(name));
  await step('npm install', () => project.must('npm', 'install'));
  await step('npm test', () => project.must('npm', 'test'));
}, npmTime);

afterAll(() => project?.remove());

async function edit(path: string, change: (text: string) => string): Promise<void> {
  const file = join(project.folder, path);
  await writeFile(file, change(await readFile(file, 'utf8')));
}

describe('npm run dev', () => {
  let dev: ChildProcess;
  let output = '';
  let kubectl: Kubectl;

  beforeAll(async () => {
    await step('npm run dev', start);
    const kubeconfig = join(project.folder, '.rukpak/cluster/kubeconfig');
    kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
  });

  afterAll(() => stop('SIGTERM'));

  async function start(): Promise<void> {
    const { folder: cwd, env } = project;
    // A group of its own, as a terminal gives each command.
    dev = spawn('npm', ['run', 'dev'], { cwd, env, stdio: 'pipe', detached: true });
    output = '';
    for (const stream of [dev.stdout, dev.stderr]) {
      stream?.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    }
    await runsMoreThan(0);
  }

  /** How often it has been started; more than once for a save that is seen in two parts. */
  function starts(): number {
    return output.match(/^the class runs, after/gm)?.length ?? 0;
  }

  async function runsMoreThan(times: number): Promise<void> {
    await eventually(() => {
      expect(dev.exitCode, output).toBeNull();
      expect(starts(), output).toBeGreaterThan(times);
    }, patiently);
  }

  async function stop(signal: NodeJS.Signals): Promise<void> {
    if (dev.exitCode !== null || dev.signalCode !== null) return;
    const ended = once(dev, 'exit');
    process.kill(-(dev.pid ?? 0), signal);
    await ended;
  }

  async function replicas(): Promise<unknown> {
    const deployment = await kubectl.get('deployment', `${name}-sample`, 'default');
    return (deployment['spec'] as { readonly replicas: number }).replicas;
  }

  test('deploys the sample', async () => {
    const printed = await step('npm run sample', () =>
      project.must('npm', 'run', 'sample', '--', '--timeout=10m'),
    );
    expect(printed).toContain(`BundleDeployment/${name}-sample  Healthy  class ${name}`);
    expect(printed).toContain('objects: 3 of 3 healthy');
    expect(await replicas()).toBe(1);
  });

  test('took less than ten minutes from an empty folder to the sample, on Node 20', async () => {
    expect(await project.must('node', '--version')).toMatch(/^v20\./);
    const taken = [...walk.values()].reduce((sum, each) => sum + each, 0);
    expect(taken, JSON.stringify(Object.fromEntries(walk))).toBeLessThan(600_000);
  });

  test('takes up a change of the class', async () => {
    const before = starts();
    await edit('src/settings.ts', (text) => text.replace('replicas: 1 }', 'replicas: 2 }'));
    await runsMoreThan(before);
    await eventually(async () => expect(await replicas()).toBe(2));
  });

  test('waits for the next save where the class cannot run', async () => {
    await appendFile(join(project.folder, 'src/class.ts'), 'no code\n');
    await eventually(() => expect(output).toContain('the next save starts it again'));
    expect(output).toContain('src/class.ts');
    const before = starts();
    await edit('src/class.ts', (text) => text.replace('no code\n', ''));
    await runsMoreThan(before);
  });

  test('upgrades the sample when its content is another', async () => {
    const before = await kubectl.list('bundles');
    await edit('sample/content/index.html', (text) => text.replace('Hello', 'Welcome'));
    await project.must('npm', 'run', 'sample', '--', '--timeout=10m');
    await eventually(async () => {
      const after = await kubectl.list('bundles');
      expect(after).toHaveLength(1);
      expect(after[0]?.metadata.uid).not.toBe(before[0]?.metadata.uid);
    });
  });

  test('leaves no manager behind where it is killed, and takes up the control plane again', async () => {
    await stop('SIGKILL');
    await eventually(async () => expect(await processes('rukpak.js all')).toEqual([]));
    await start();
    expect(await kubectl.exists('bundledeployment', `${name}-sample`)).toBe(true);
  });

  test('ends with all that it has started at Ctrl-C', async () => {
    await stop('SIGINT');
    await eventually(async () => expect(await processes('')).toEqual([]));
    expect(existsSync(join(project.folder, '.rukpak/cluster'))).toBe(false);
  });

  /** The command lines of the project's processes that have this in them. */
  async function processes(words: string): Promise<readonly string[]> {
    const { stdout } = await promisify(execFile)('ps', ['-ww', '-eo', 'args']);
    const lines = stdout.split('\n').filter((line) => line.includes(project.folder));
    return lines.filter((line) => line.includes(words));
  }
});

describe('as a process of its own', () => {
  const kubeconfig = plane.kubeconfig;
  const registry = plane.registry;
  const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
  let system: System | undefined;
  let own: OwnProcess | undefined;

  beforeAll(async () => {
    system = await System.start({ kubeconfig, registry });
    await kubectl.must(['apply', '--validate=strict', '-f', join(project.folder, 'deploy')]);
    // The process below is what its pod would be, with the rights of its account.
    await kubectl.must(['scale', 'deployment', name, '--replicas=0', '-n', 'rukpak-system']);
    const account = { namespace: 'rukpak-system', name };
    const user = `--as=system:serviceaccount:rukpak-system:${name}`;
    await eventually(async () => {
      await kubectl.must(['auth', 'can-i', 'watch', 'bundledeployments.core.rukpak.io', user]);
    });
    const limited = await writeKubeconfig(kubectl, account, project.parent);
    own = await OwnProcess.start({ kubeconfig: limited, registry, folder: project.folder });
  });

  afterAll(async () => {
    await own?.stop();
    await system?.stop();
    await kubectl.must(['delete', '--ignore-not-found', '-f', join(project.folder, 'deploy')]);
  });

  test('the rights in deploy are enough to install, repair and remove the sample', async () => {
    const sample = `${name}-sample`;
    const flags = [`--kubeconfig=${kubeconfig}`, '--timeout=10m'];
    const printed = await project.must('npm', 'run', 'sample', '--', ...flags);
    expect(printed).toContain(`BundleDeployment/${sample}  Healthy  class ${name}`);
    await kubectl.deleteNamed('service', [sample], { namespace: 'default' });
    await eventually(async () => {
      expect(await kubectl.exists('service', sample, 'default')).toBe(true);
    });
    await kubectl.deleteNamed('bundledeployment', [sample]);
    await eventually(async () => {
      expect(await kubectl.exists('deployment', sample, 'default')).toBe(false);
      // They go after their deployment, and only this process takes their finalizers off them.
      expect(await kubectl.list('bundles')).toEqual([]);
    }, patiently);
    expect(own?.log).not.toContain('forbidden');
  });
});
