import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildHelmCommand } from '../../../deploy/helm-engine/cached-build.ts';

/** What a rendering comes to: what Helm prints, or its error. */
export interface Rendering {
  readonly output?: string;
  readonly error?: string;
}

export interface TemplateRun {
  readonly folder: string;
  readonly release: string;
  readonly namespace: string;
  readonly kubeVersion: string;
  readonly apiVersions: readonly string[];
  /** Files. */
  readonly values: readonly string[];
}

/** Helm's own command, of the version that the engine is built from. */
export class HelmCommand {
  readonly #file: string;
  readonly #home: string;

  private constructor(file: string, home: string) {
    this.#file = file;
    this.#home = home;
  }

  /** Builds it where it is not built yet, which takes minutes. */
  static async create(): Promise<HelmCommand> {
    const file = await buildHelmCommand({
      onProgress: (line) => process.stderr.write(`helm: ${line}\n`),
      signal: new AbortController().signal,
    });
    return new HelmCommand(file, await mkdtemp(join(tmpdir(), 'helm-')));
  }

  async remove(): Promise<void> {
    await rm(this.#home, { recursive: true, force: true });
  }

  /** Writes files into a folder of its own, which is gone with it. */
  async write(name: string, files: ReadonlyMap<string, string | Uint8Array>): Promise<string> {
    const folder = join(this.#home, name);
    for (const [path, content] of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    return folder;
  }

  async run(args: readonly string[]): Promise<string> {
    // Nothing of the machine's own settings, such as a time zone.
    const env = { HOME: this.#home };
    const { stdout } = await promisify(execFile)(this.#file, [...args], { env, cwd: this.#home });
    return stdout;
  }

  async template(run: TemplateRun): Promise<Rendering> {
    const args = ['template', run.release, run.folder, '--namespace', run.namespace];
    args.push('--kube-version', run.kubeVersion, '--include-crds');
    for (const version of run.apiVersions) args.push('--api-versions', version);
    for (const file of run.values) args.push('--values', file);
    try {
      return { output: await this.run(args) };
    } catch (error) {
      return { error: helmError((error as { readonly stderr?: string }).stderr ?? '') };
    }
  }
}

const advice = '\n\nUse --debug flag to render out invalid YAML';

/** The error alone: warnings come before it, and advice about flags after it. */
function helmError(stderr: string): string {
  const start = /^Error: /m.exec(stderr);
  if (start === null) throw new Error(`helm printed no error: ${stderr}`);
  const text = stderr.slice(start.index + start[0].length).replace(/\n$/, '');
  return text.endsWith(advice) ? text.slice(0, -advice.length) : text;
}
