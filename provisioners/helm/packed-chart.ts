import {
  type BundleFiles,
  errorMessage,
  type ProvisionerContext,
  TerminalError,
  unpackBundle,
} from '../../core/sdk.ts';

const archiveName = /\.(?:tgz|tar\.gz)$/;
/** Lies beside an archive where it was signed; nothing here reads it. */
const provenanceName = /\.prov$/;

/** The content of a packed chart where that is all there is; else the content as it is. */
export async function unpackedChart(
  content: BundleFiles,
  context: ProvisionerContext,
): Promise<BundleFiles> {
  const file = packedFile(content);
  if (file === undefined) return content;
  const [path, bytes] = file;
  try {
    return await unpackBundle(once(bytes), context);
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    throw new TerminalError(`unpack chart archive "${path}": ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

/** The archive of content that is nothing else. */
export function packedFile({ files }: BundleFiles): readonly [string, Uint8Array] | undefined {
  const [file, another] = [...files].filter(([path]) => !provenanceName.test(path));
  return another === undefined && archiveName.test(file?.[0] ?? '') ? file : undefined;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
