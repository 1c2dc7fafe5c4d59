import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The folder of one run of tests, with all that its processes write to the temporary folder: nothing
 * of a run is left behind, also where a signal has ended it.
 */
export class RunFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Makes one, with the temporary folder (TMPDIR) of the processes that this one starts from now on. */
  static create(): RunFolder {
    const path = mkdtempSync(join(tmpdir(), 'rukpak-test-'));
    const temporary = join(path, 'tmp');
    mkdirSync(temporary);
    // Servers of tests that run as another user have to come by.
    for (const folder of [path, temporary]) chmodSync(folder, 0o711);
    process.env['TMPDIR'] = temporary;
    return new RunFolder(path);
  }

  /**
   * Kills what the run has started and is still there, and removes the folder. Synchronous: nothing
   * else is done at the exit of a process.
   */
  sweep(): void {
    for (const pid of this.#processes()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
    }
    rmSync(this.path, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Those that have this folder in their environment, as all of a run do. */
  #processes(): readonly number[] {
    const listed = existsSync('/proc') ? readdirSync('/proc') : [];
    const all = listed.filter((name) => /^\d+$/.test(name));
    return all.map(Number).filter((pid) => pid !== process.pid && this.#isOf(pid));
  }

  #isOf(pid: number): boolean {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`${this.path}/`);
    } catch {
      // It has ended meanwhile, or is another user's.
      return false;
    }
  }
}
