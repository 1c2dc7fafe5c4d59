import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { errorMessage } from '../core/errors.ts';

const manifestSchema = z.object({
  main: z.string().optional(),
  exports: z.unknown().optional(),
});

/** Those under which Node imports a module. */
const conditions: readonly string[] = ['import', 'node', 'module-sync', 'default'];

/**
 * The file that a package's manifest (package.json) names for an import; `subpath` is `.` or begins
 * with `./`.
 * @throws Error that says what the manifest lacks.
 */
export function packageEntry(manifestFile: string, subpath = '.'): string {
  const { main, exports } = readManifest(manifestFile);
  const own = subpath === '.' ? (main ?? 'index.js') : subpath;
  const target = exports === undefined ? own : targetOf(exports, subpath);
  if (target === undefined) {
    throw new Error(`${manifestFile} exports nothing at "${subpath}" for import`);
  }
  const file = join(dirname(manifestFile), target);
  if (!existsSync(file)) throw new Error(`${manifestFile} names ${target}, which is not there`);
  return file;
}

function readManifest(file: string): z.infer<typeof manifestSchema> {
  if (!existsSync(file)) throw new Error(`there is no ${file}: name the module’s file`);
  try {
    return manifestSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new Error(`cannot read ${file}: ${errorMessage(error)}`, { cause: error });
  }
}

function targetOf(exports: unknown, subpath: string): string | undefined {
  const bySubpath = Object.keys(Object(exports) as object).some((key) => key.startsWith('.'));
  if (bySubpath) return underConditions((exports as Record<string, unknown>)[subpath]);
  return subpath === '.' ? underConditions(exports) : undefined;
}

function underConditions(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  for (const [condition, nested] of Object.entries(Object(target) as object)) {
    if (!conditions.includes(condition)) continue;
    const found = underConditions(nested);
    if (found !== undefined) return found;
  }
  return undefined;
}
