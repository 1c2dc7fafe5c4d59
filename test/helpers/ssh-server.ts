import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from './eventually.ts';
import { opensshFolder } from './openssh.ts';
import { workerPorts } from './worker-ports.ts';

const run = promisify(execFile);

export interface SSHServerOptions {
  /** Folder whose sub-folders are the repositories; everybody must be able to read it. */
  readonly root: string;
  /** Types of its host keys, as ssh-keygen names them (default: Ed25519). */
  readonly hostKeys?: readonly string[];
}

// root may not be logged in to everywhere, and sshd as root needs a user that is not there.
const nobody = 65_534;

/** A real OpenSSH server on loopback, whose only user is `git`. */
export class SSHServer {
  readonly port: number;
  readonly #options: SSHServerOptions;
  readonly #folder: string;
  #process: ChildProcess | undefined;
  #log = '';

  private constructor(options: SSHServerOptions, folder: string, port: number) {
    this.#options = options;
    this.#folder = folder;
    this.port = port;
  }

  static async start(options: SSHServerOptions): Promise<SSHServer> {
    const folder = await mkdtemp(join(tmpdir(), 'rukpak-sshd-'));
    const [port = 0] = await workerPorts(1);
    const server = new SSHServer(options, folder, port);
    try {
      await server.#prepare();
      await server.#launch();
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  get log(): string {
    return this.#log;
  }

  /** The URL of a repository below the root. */
  url(repository: string): string {
    return `ssh://git@127.0.0.1:${this.port}${join(this.#options.root, repository)}`;
  }

  /** A key that the server lets in, as ssh-keygen makes it. */
  async authorizedKey(...arguments_: readonly string[]): Promise<string> {
    const { privateKey, publicKey } = await this.#generate(arguments_);
    await writeFile(this.#file('authorized_keys'), publicKey, { flag: 'a' });
    return privateKey;
  }

  /** A line of known_hosts for each host key; hashed as `ssh-keygen -H` does where asked for. */
  async knownHosts({ hashed = false } = {}): Promise<string> {
    const names = (await readdir(this.#folder)).filter((name) => /^host-.*\.pub$/.test(name));
    const keys = await Promise.all(names.map((name) => readFile(this.#file(name), 'utf8')));
    const lines = keys.map((key) => `[127.0.0.1]:${this.port} ${key}`).join('');
    if (!hashed) return lines;
    const file = this.#file('known_hosts');
    await writeFile(file, lines);
    await run('ssh-keygen', ['-q', '-H', '-f', file]);
    return await readFile(file, 'utf8');
  }

  /** Its connections that still stand. */
  async connections(): Promise<number> {
    const { pid } = this.#process ?? {};
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return children.split(' ').filter((child) => child !== '').length;
  }

  async stop(): Promise<void> {
    const child = this.#process;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  #file(name: string): string {
    return join(this.#folder, name);
  }

  async #prepare(): Promise<void> {
    const copy = { recursive: true, verbatimSymlinks: true };
    await cp(await opensshFolder(), this.#file('openssh'), copy);
    await mkdir(this.#file('home'));
    // The repositories belong to whoever runs the tests.
    await writeFile(this.#file('home/.gitconfig'), '[safe]\n\tdirectory = *\n');
    const { uid, gid } = user();
    await writeFile(this.#file('passwd'), `git:x:${uid}:${gid}::${this.#file('home')}:/bin/sh\n`);
    await writeFile(this.#file('group'), `git:x:${gid}:\n`);
    await writeFile(this.#file('authorized_keys'), '');
    for (const type of this.#options.hostKeys ?? ['ed25519']) {
      await run('ssh-keygen', ['-q', '-t', type, '-N', '', '-f', this.#file(`host-${type}`)]);
      await chown(this.#file(`host-${type}`), uid, gid);
    }
    await writeFile(this.#file('sshd_config'), this.#configuration());
    await chmod(this.#folder, 0o755);
  }

  #configuration(): string {
    const hostKeys = (this.#options.hostKeys ?? ['ed25519']).map((type) =>
      this.#file(`host-${type}`),
    );
    return [
      `Port ${this.port}`,
      'ListenAddress 127.0.0.1',
      ...hostKeys.map((file) => `HostKey ${file}`),
      `AuthorizedKeysFile ${this.#file('authorized_keys')}`,
      'AllowUsers git',
      'StrictModes no',
      'UsePAM no',
      'PidFile none',
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'MaxStartups 100',
      '',
    ].join('\n');
  }

  async #launch(): Promise<void> {
    const libraries = await libraryFolder(this.#file('openssh/usr/lib'));
    const child = spawn(
      this.#file('openssh/usr/sbin/sshd'),
      ['-D', '-e', '-f', this.#file('sshd_config')],
      {
        ...user(),
        stdio: ['ignore', 'ignore', 'pipe'],
        env: {
          LD_LIBRARY_PATH: libraries,
          LD_PRELOAD: join(libraries, 'libnss_wrapper.so'),
          NSS_WRAPPER_PASSWD: this.#file('passwd'),
          NSS_WRAPPER_GROUP: this.#file('group'),
        },
      },
    );
    this.#process = child;
    child.stderr.on('data', (chunk: Buffer) => (this.#log += chunk.toString('utf8')));
    await eventually(
      () => {
        if (child.exitCode !== null) throw new Error(`sshd ended: ${this.#log}`);
        if (!this.#log.includes('Server listening on'))
          throw new Error(`sshd is not up: ${this.#log}`);
      },
      { every: 50 },
    );
  }

  async #generate(
    arguments_: readonly string[],
  ): Promise<{ readonly privateKey: string; readonly publicKey: string }> {
    const folder = await mkdtemp(this.#file('key-'));
    const file = join(folder, 'key');
    await run('ssh-keygen', ['-q', ...arguments_, '-f', file]);
    const [privateKey, publicKey] = await Promise.all([
      readFile(file, 'utf8'),
      readFile(`${file}.pub`, 'utf8'),
    ]);
    return { privateKey, publicKey };
  }
}

function user(): { readonly uid: number; readonly gid: number } {
  const uid = process.getuid?.() ?? nobody;
  return uid === 0 ? { uid: nobody, gid: nobody } : { uid, gid: process.getgid?.() ?? nobody };
}

/** Debian has a folder for each architecture. */
async function libraryFolder(lib: string): Promise<string> {
  const names = await readdir(lib);
  return join(lib, names.find((name) => name.includes('-linux-')) ?? '');
}
