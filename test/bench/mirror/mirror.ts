import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { watchMemory } from '../process-memory.ts';
import { type Row, report, rounded } from '../report.ts';

const root = join(import.meta.dirname, '../../..');
const program = join(import.meta.dirname, 'registry-process.ts');
const layersPerImage = 8;

/** The memory of `rukpakctl mirror` to a registry, a directory and a tar, and from them to a registry. */
export async function benchMirror(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      images: { type: 'string', default: '20' },
      'layer-size': { type: 'string', default: '64' },
    },
  });
  const [images, layerSize] = [Number(values.images), Number(values['layer-size'])];
  const folder = await mkdtemp(join(tmpdir(), 'rukpak-bench-mirror-'));
  const started: ChildProcess[] = [];
  await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-b'], { cwd: root });
  try {
    const source = await registry(started, 'source', images, layersPerImage, layerSize);
    const config = join(folder, 'imageset.yaml');
    await writeFile(config, imageSet(source, images));
    const rows: Row[] = [];
    const sink = await registry(started, 'sink');
    const hosts = [source, sink].flatMap((host) => ['--insecure-registry', host]);
    const run = async (name: string, from: readonly string[], to?: string): Promise<void> => {
      const target = to ?? `${sink}/${rows.length}`;
      const results = ['--results', join(folder, 'results')];
      const args = ['mirror', ...from, '--to', target, ...results, ...hosts];
      rows.push({
        run: name,
        ...(await measured(args, (images * layersPerImage * layerSize) / 1024)),
      });
    };
    const [directory, tar] = [join(folder, 'carried'), join(folder, 'carried.tar')];
    await run('to a registry', ['--config', config]);
    await run('to a directory', ['--config', config], directory);
    await run('from a directory', ['--from', directory]);
    await rm(directory, { recursive: true });
    await run('to a tar', ['--config', config], tar);
    await run('from a tar', ['--from', tar]);
    report('mirror', rows);
  } finally {
    for (const child of started) child.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

async function registry(
  started: ChildProcess[],
  ...args: readonly (string | number)[]
): Promise<string> {
  const child = spawn(process.execPath, [program, ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(child);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return line.toString('utf8').trim();
}

function imageSet(source: string, images: number): string {
  const names = Array.from(
    { length: images },
    (_, image) => `    - name: ${source}/bulk/${image}:v1\n`,
  );
  return `kind: ImageSetConfiguration
apiVersion: mirror.openshift.io/v2alpha1
mirror:
  additionalImages:
${names.join('')}`;
}

/** As the package runs: to compile the sources at each start takes memory of its own. */
async function measured(args: readonly string[], gibibytes: number): Promise<Row> {
  const begin = performance.now();
  const child = spawn(process.execPath, [join(root, 'dist/cmd/rukpakctl.js'), ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const watch = watchMemory(() => child.pid ?? process.pid);
  const [code] = (await once(child, 'exit')) as [number | null];
  const peaks = watch.stop();
  if (code !== 0) throw new Error(`rukpakctl ${args.join(' ')} ended with ${code}`);
  const seconds = (performance.now() - begin) / 1000;
  return {
    GiB: rounded(gibibytes),
    seconds: rounded(seconds),
    'peak MiB': rounded(peaks.process, 0),
  };
}
