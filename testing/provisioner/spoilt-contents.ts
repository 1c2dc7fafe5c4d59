import { type BundleFiles, BundleFilesBuilder, defaultLimits } from '../../core/sdk.ts';

export interface SpoiltContent {
  /** Such as `with "a.yaml" empty`. */
  readonly how: string;
  readonly files: BundleFiles;
}

/** Every file in turn, up to these, becomes something else: the rest would say nothing new. */
const maxFiles = 5;

const texts: Readonly<Record<string, string>> = {
  empty: '',
  'of null': 'null\n',
  'of a list': '- 1\n- [a]\n',
  'of a text': '"text"\n',
  'of a number': '1e999\n',
  'of an object': '{"kind": 1, "metadata": [], "spec": "x"}\n',
  'cut off': '{"a": [',
  'that refers to itself': 'a: &a [*a]\n',
};

/** Content as nobody should have written it, and somebody will. */
export function spoiltContents(content: BundleFiles): readonly SpoiltContent[] {
  const paths = [...content.files.keys()].slice(0, maxFiles);
  return [
    { how: 'without any file', files: new BundleFilesBuilder(defaultLimits).build() },
    ...paths.flatMap((path) => spoiltAt(content, path)),
  ];
}

function spoiltAt(content: BundleFiles, path: string): readonly SpoiltContent[] {
  const name = JSON.stringify(path);
  const bytes = [0x00, 0xff, 0xfe, 0x1f, 0x8b, 0x80];
  const replaced = (replacement: Uint8Array): BundleFiles => withFile(content, path, replacement);
  return [
    { how: `without ${name}`, files: withFile(content, path, undefined) },
    { how: `with a directory ${name}`, files: withDirectory(content, path) },
    { how: `with ${name} of bytes that are no text`, files: replaced(Uint8Array.from(bytes)) },
    ...Object.entries(texts).map(([what, text]) => ({
      how: `with ${name} ${what}`,
      files: replaced(new TextEncoder().encode(text)),
    })),
  ];
}

function withFile(
  { files, directories }: BundleFiles,
  path: string,
  replacement: Uint8Array | undefined,
): BundleFiles {
  const changed = new Map(files);
  if (replacement === undefined) changed.delete(path);
  else changed.set(path, replacement);
  return { files: changed, directories };
}

function withDirectory(content: BundleFiles, path: string): BundleFiles {
  const { files, directories } = withFile(content, path, undefined);
  return { files, directories: new Set([...directories, path]) };
}
