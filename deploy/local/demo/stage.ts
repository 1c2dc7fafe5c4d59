import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { freePorts, isFree } from '../cluster/ports.ts';
import { type Cluster, startCluster } from '../cluster/start-cluster.ts';
import { TestRepository } from '../git/create-repository.ts';
import { type GitServer, startGitServer } from '../git/git-server.ts';
import { pushImage } from '../registry/push-image.ts';
import { fromGit, greeter, helloV1, helloV2 } from './content.ts';
import { type DemoSystem, type SystemOptions, startSystem } from './system.ts';
import { Transcript } from './transcript.ts';

/** The addresses in deploy/samples. */
const sampleRegistryPort = 5000;
const sampleGitPort = 5080;

/** Everything that the demo starts. */
export interface Stage {
  /** Holds everything that the demo writes. */
  readonly folder: string;
  readonly transcript: Transcript;
  readonly cluster: Cluster;
  /** Folder of the samples, with addresses that are right here. */
  readonly samples: string;
  /** Called after the system is installed. */
  startSystem(): Promise<void>;
  readonly webhookUrl: string;
  readonly system: SystemOptions;
  stop(): Promise<void>;
  /** Process ID of the system; 0 before it is started. */
  systemPid(): number;
  /** Leaves all running that can outlive this process. */
  detach(): void;
}

/** Starts the control plane, a registry with the demo's images and a git server. */
export async function setStage(root: string, say: (line: string) => void): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'rukpak-demo-'));
  const cleanups: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  };
  try {
    return await set({ root, folder, cleanups, stop, say });
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Setting {
  readonly root: string;
  readonly folder: string;
  readonly cleanups: (() => Promise<unknown>)[];
  readonly stop: () => Promise<void>;
  readonly say: (line: string) => void;
}

async function set({ root, folder, cleanups, stop, say }: Setting): Promise<Stage> {
  const registryPort = await preferred(sampleRegistryPort);
  const dir = join(folder, 'cluster');
  const cluster = await startCluster({ dir, registryPort, onProgress: say });
  cleanups.push(() => cluster.stop());
  await pushImages(cluster.registry);
  const git = await serveGit(join(folder, 'git'));
  cleanups.push(() => git.close());
  const samples = await samplesFor(root, { folder, registry: cluster.registry, git: git.url });
  const [content = 0, health = 0, webhooks = 0] = await freePorts(3, []);
  const system: SystemOptions = {
    root,
    kubeconfig: cluster.kubeconfig,
    registry: cluster.registry,
    storage: join(folder, 'bundles'),
    logFile: join(folder, 'system.log'),
    ports: { content, health, webhooks },
  };
  const transcript = new Transcript({ environment: environmentFor(cluster), directory: root });
  let running: DemoSystem | undefined;
  return {
    folder,
    transcript,
    cluster,
    samples,
    system,
    webhookUrl: `https://127.0.0.1:${webhooks}`,
    async startSystem() {
      running = await startSystem(system);
      cleanups.push(async () => running?.stop());
    },
    stop,
    systemPid: () => running?.pid ?? 0,
    detach: () => running?.detach(),
  };
}

/** The cluster's kubectl comes first, for machines that have none. */
function environmentFor({ kubeconfig, kubectl }: Cluster): NodeJS.ProcessEnv {
  const path = `${dirname(kubectl)}${delimiter}${process.env['PATH'] ?? ''}`;
  return { ...process.env, KUBECONFIG: kubeconfig, PATH: path };
}

async function preferred(port: number): Promise<number> {
  if (await isFree(port)) return port;
  const [other = 0] = await freePorts(1, []);
  return other;
}

async function pushImages(registry: string): Promise<void> {
  const images = [
    { repository: 'samples/hello', tag: 'v1', files: helloV1 },
    { repository: 'samples/hello', tag: 'v2', files: helloV2 },
    { repository: 'samples/greeter-bundle', tag: 'v1', files: greeter },
  ];
  for (const { repository, tag, files } of images) {
    await pushImage({ registry, repository, tag, layers: [{ files }] });
  }
}

async function serveGit(root: string): Promise<GitServer> {
  const repository = await TestRepository.create(root, 'samples');
  await repository.commit({ files: fromGit, annotatedTag: 'v1.0.0' });
  return startGitServer({ root, port: await preferred(sampleGitPort) });
}

/** The samples as they are where their addresses are free; copies with others where not. */
async function samplesFor(
  root: string,
  { folder, registry, git }: { folder: string; registry: string; git: string },
): Promise<string> {
  const original = join('deploy', 'samples');
  const standard = [`127.0.0.1:${sampleRegistryPort}`, `http://127.0.0.1:${sampleGitPort}`];
  if (registry === standard[0] && git === standard[1]) return original;
  for (const name of await readdir(join(root, original))) {
    const text = await readFile(join(root, original, name), 'utf8');
    const adapted = text.replaceAll(standard[0] ?? '', registry).replaceAll(standard[1] ?? '', git);
    await writeFile(join(folder, name), adapted);
  }
  return folder;
}
