import { randomUUID } from 'node:crypto';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { goFileError } from '../../api/go-file-error.ts';
import { goQuote } from '../../api/go-quote.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import { contentDigest } from '../index/index.ts';
import { loadDirectory } from '../load/index.ts';
import { type BuildOptions, buildContent } from './build-content.ts';
import { ServedContent } from './served-content.ts';

const format = 'rukpak.v1';
const unfinished = `${format}.new-`;
const digestFile = 'digest';
const mostAttempts = 5;
/** Milliseconds after which nobody is building in a directory any more. */
const longestBuild = 24 * 3_600_000;
/** The build of an image creates the cache, and any user may run the image and read it. */
const sharedMode = 0o775;
/** Caches of opm, which other versions of a catalog's image may have. They stay untouched. */
const ofOthers: ReadonlySet<string> = new Set(['pogreb.v1', 'cache', 'digest']);

export interface OpenContentOptions extends BuildOptions {
  /** Called before content is built. */
  readonly onBuild?: () => void;
}

/** The cached content was built from other files than those of the catalog. */
export class StaleCacheError extends TerminalError {
  readonly existing: string;
  readonly computed: string;

  constructor(existing: string, computed: string) {
    super(
      `cache requires rebuild: cache reports digest as ${goQuote(existing)}, but computed digest is ${goQuote(computed)}`,
    );
    this.existing = existing;
    this.computed = computed;
  }
}

/**
 * Cache of the content to serve for a catalog: `rukpak.v1/` below a directory, with a digest of the
 * catalog's files. Each build replaces it as a whole or not at all.
 */
export class ContentCache {
  readonly format = format;
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Whether cached content exists.
   * @throws TerminalError for a directory with unexpected content
   */
  async isPresent(): Promise<boolean> {
    const names = await readdir(this.#directory).catch((): string[] => []);
    if (names.includes(format)) return true;
    const unexpected = names.filter((name) => !ofOthers.has(name) && !isUnfinished(name));
    if (unexpected.length === 0) return false;
    throw new TerminalError(`cache directory has unexpected contents: ${unexpected.join(',')}`);
  }

  /**
   * The content to serve for the catalog in the directory `source`: cached content if it was built
   * from the same files, otherwise new content that is built, validated and cached.
   */
  async open(source: string, options: OpenContentOptions): Promise<ServedContent> {
    await this.#removeUnfinished();
    for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
      const digest = await contentDigest(source, options.signal);
      const content = (await this.#kept(digest)) ?? (await this.#build(source, digest, options));
      if (content !== undefined) return content;
    }
    throw new TerminalError(`${source} changes all the time while it is read`);
  }

  /**
   * The cached content of the catalog in the directory `source`; builds nothing.
   * @throws StaleCacheError for content of other files, TerminalError without cached content
   */
  async openIntact(source: string, signal: AbortSignal): Promise<ServedContent> {
    const existing = await this.#existing();
    const computed = await contentDigest(source, signal);
    if (existing !== computed) throw new StaleCacheError(existing, computed);
    return await this.#opened(computed);
  }

  get #path(): string {
    return join(this.#directory, format);
  }

  async #existing(): Promise<string> {
    const file = join(this.#path, digestFile);
    try {
      return await readFile(file, 'utf8');
    } catch (error) {
      const reason = goFileError(error, file) ?? errorMessage(error);
      throw new TerminalError(`read existing cache digest: ${reason}`, { cause: error });
    }
  }

  /** @throws StaleCacheError if another process replaces the content, which had this digest */
  async #opened(digest: string): Promise<ServedContent> {
    const content = await ServedContent.open(this.#path);
    try {
      const existing = await this.#existing();
      if (existing !== digest) throw new StaleCacheError(existing, digest);
      return content;
    } catch (error) {
      await content[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #kept(digest: string): Promise<ServedContent | undefined> {
    try {
      const existing = await this.#existing();
      return existing === digest ? await this.#opened(digest) : undefined;
    } catch {
      // Any broken cache is built again.
      return undefined;
    }
  }

  /** Removes what killed builds have left. Other processes may be building in the same cache. */
  async #removeUnfinished(): Promise<void> {
    const names = await readdir(this.#directory).catch((): string[] => []);
    for (const name of names.filter(isUnfinished)) {
      const path = join(this.#directory, name);
      try {
        const age = Date.now() - (await stat(path)).mtimeMs;
        if (age > longestBuild) await rm(path, { recursive: true, force: true });
      } catch {
        // Nobody needs it; the cache may be readable only.
      }
    }
  }

  /**
   * Undefined if the files have changed meanwhile: the build may have read parts of both states.
   */
  async #build(
    source: string,
    digest: string,
    { onBuild, ...options }: OpenContentOptions,
  ): Promise<ServedContent | undefined> {
    onBuild?.();
    await mkdir(this.#directory, { recursive: true });
    const next = await mkdtemp(join(this.#directory, unfinished));
    let content: ServedContent | undefined;
    try {
      await buildContent(next, loadDirectory(source, { signal: options.signal }), options);
      if ((await contentDigest(source, options.signal)) !== digest) {
        await rm(next, { recursive: true, force: true });
        return undefined;
      }
      await writeFile(join(next, digestFile), digest);
      await chmod(next, sharedMode);
      // Opened before it has the name that other processes replace. Open content stays readable.
      content = await ServedContent.open(next);
      await this.#replace(next);
      return content;
    } catch (error) {
      await content?.[Symbol.asyncDispose]();
      await rm(next, { recursive: true, force: true });
      throw error;
    }
  }

  async #replace(next: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await rename(next, this.#path);
      } catch (error) {
        // A rename cannot replace a directory with content.
        const isThere = hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOTDIR');
        if (!isThere || attempt === mostAttempts) throw error;
        await this.#removeFormer();
      }
    }
  }

  /** Under a name of its own: another process may put its content into the place meanwhile. */
  async #removeFormer(): Promise<void> {
    const former = join(this.#directory, `${unfinished}${randomUUID()}`);
    try {
      await rename(this.#path, former);
    } catch (error) {
      // Another process has moved it.
      if (!hasCode(error, 'ENOENT')) throw error;
    }
    await rm(former, { recursive: true, force: true });
  }
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException).code ?? '');
}

function isUnfinished(name: string): boolean {
  return name.startsWith(unfinished);
}
