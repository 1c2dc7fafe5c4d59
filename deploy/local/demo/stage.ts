import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { freePorts, isFree } from '../cluster/ports.ts';
import { type Cluster, startCluster } from '../cluster/start-cluster.ts';
import { TestRepository } from '../git/create-repository.ts';
import { fromGit } from './content.ts';
import { pushImages } from './images.ts';
import { demoFolder, type SystemOptions, startGit, startSystem } from './system.ts';
import { Transcript } from './transcript.ts';

/** The addresses in deploy/samples. */
const sampleRegistryPort = 5000;
const sampleGitPort = 5080;
const sampleFolder = join('deploy', 'samples');

/** Everything that the demo starts; all of it ends with the cluster. */
export interface Stage {
  readonly transcript: Transcript;
  readonly cluster: Cluster;
  /** Folder of the samples, with the demo's addresses. */
  readonly samples: string;
  /** Whether these are copies, because the samples' own addresses are in use. */
  readonly samplesAreCopies: boolean;
  /** Called after the system is installed. */
  startSystem(): Promise<void>;
  readonly webhookUrl: string;
  readonly system: SystemOptions;
}

/** Starts the control plane, a registry with the demo's images and a git server. */
export async function setStage(root: string, say: (line: string) => void): Promise<Stage> {
  const dir = await mkdtemp(join(tmpdir(), 'rukpak-demo-'));
  const registryPort = await preferred(sampleRegistryPort);
  const cluster = await startCluster({ dir, registryPort, onProgress: say });
  try {
    return await set(root, cluster);
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

async function set(root: string, cluster: Cluster): Promise<Stage> {
  const { dir, registry } = cluster;
  await mkdir(demoFolder(dir));
  await pushImages(registry, { samples: join(root, sampleFolder), folder: demoFolder(dir) });
  const git = await serveGit(root, dir);
  const samples = await samplesFor(root, { dir, registry, git });
  const [content = 0, health = 0, webhooks = 0] = await freePorts(3, []);
  const system: SystemOptions = { root, dir, registry, ports: { content, health, webhooks } };
  return {
    transcript: new Transcript({ environment: environmentFor(cluster), directory: root }),
    cluster,
    samples,
    samplesAreCopies: samples !== sampleFolder,
    system,
    webhookUrl: `https://127.0.0.1:${webhooks}`,
    startSystem: () => startSystem(system),
  };
}

/** The cluster's kubectl comes first, for machines without one. */
function environmentFor({ kubeconfig, kubectl }: Cluster): NodeJS.ProcessEnv {
  const path = `${dirname(kubectl)}${delimiter}${process.env['PATH'] ?? ''}`;
  return { ...process.env, KUBECONFIG: kubeconfig, PATH: path };
}

async function preferred(port: number): Promise<number> {
  if (await isFree(port)) return port;
  const [other = 0] = await freePorts(1, []);
  return other;
}

/** The URL of a git server with the demo's repository. */
async function serveGit(root: string, dir: string): Promise<string> {
  const repositories = join(demoFolder(dir), 'git');
  const repository = await TestRepository.create(repositories, 'samples');
  await repository.commit({ files: fromGit, annotatedTag: 'v1.0.0' });
  const port = await preferred(sampleGitPort);
  await startGit({ root, dir, repositories, port });
  return `http://127.0.0.1:${port}`;
}

/** The samples themselves if their addresses are free; otherwise copies with other addresses. */
async function samplesFor(
  root: string,
  { dir, registry, git }: { dir: string; registry: string; git: string },
): Promise<string> {
  const standard = [
    `127.0.0.1:${sampleRegistryPort}`,
    `http://127.0.0.1:${sampleGitPort}`,
  ] as const;
  if (registry === standard[0] && git === standard[1]) return sampleFolder;
  const copies = join(demoFolder(dir), 'samples');
  await mkdir(copies);
  for (const entry of await readdir(join(root, sampleFolder), { withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const text = await readFile(join(root, sampleFolder, entry.name), 'utf8');
    const adapted = text.replaceAll(standard[0], registry).replaceAll(standard[1], git);
    await writeFile(join(copies, entry.name), adapted);
  }
  return copies;
}
