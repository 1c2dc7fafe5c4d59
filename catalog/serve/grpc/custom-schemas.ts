import { goQuote } from '../../../api/go-quote.ts';
import { TerminalError } from '../../../core/errors.ts';
import type { CatalogIndex, StoredCatalog } from '../../index/index.ts';
import { structMessage } from './struct-message.ts';

/** Selects blobs of schemas that have no meaning for catalogs. */
export interface CustomSchemaQuery {
  readonly schema: string;
  /** Empty for blobs without a package. */
  readonly packageName: string;
}

const pattern = '^[a-zA-Z0-9][a-zA-Z0-9._-]*$';
const known: ReadonlySet<string> = new Set([
  'olm.package',
  'olm.channel',
  'olm.bundle',
  'olm.deprecations',
]);

/** Blobs of a schema as `google.protobuf.Struct`, one after the other. */
export async function* customBlobs(
  content: StoredCatalog,
  { schema, packageName }: CustomSchemaQuery,
): AsyncGenerator<Uint8Array> {
  if (known.has(schema)) return;
  const numbers = content.index.find({ schema, package: packageName });
  for await (const { value } of content.blobs(numbers)) yield structMessage(value);
}

/** opm's problem with a name of a schema or package; undefined for valid names. */
export function nameProblem({ schema, packageName }: CustomSchemaQuery): string | undefined {
  if (schema === '') return 'invalid schema: must not be empty';
  return problemOf('schema', schema) ?? problemOf('packageName', packageName);
}

function problemOf(what: string, name: string): string | undefined {
  if (name === '' || new RegExp(pattern).test(name)) return undefined;
  return `invalid ${what} ${goQuote(name)}: must match ${pattern}`;
}

/**
 * Refuses blobs that opm does not serve: those with an invalid name of a schema or package.
 * @throws TerminalError `invalid custom schema meta: …`
 */
export function checkCustomSchemas(index: CatalogIndex): void {
  for (const schema of index.values('schema')) {
    if (known.has(schema)) continue;
    for (const number of index.find({ schema })) {
      const problem = nameProblem({ schema, packageName: index.blob(number).package });
      if (problem !== undefined) throw new TerminalError(`invalid custom schema meta: ${problem}`);
    }
  }
}
