import type { BundleFiles } from '../../../core/contracts/bundle-files.ts';
import type { KubernetesObject, ManifestFile } from '../../../core/sdk.ts';
import { type Problem, readingProblem } from './problem.ts';

/** An object and where it is written. */
export interface LocatedObject {
  readonly file: string;
  /** Which of the file's documents, from 0; lists of other objects count as what they hold. */
  readonly document: number;
  readonly object: KubernetesObject;
}

export interface ManifestObjects {
  readonly objects: readonly LocatedObject[];
  readonly problems: readonly Problem[];
}

const directory = 'manifests';

/**
 * Reads each entry of the manifests directory by itself, by the rules of a class: what is wrong
 * with one does not hide the next.
 */
export function manifestObjects(
  files: BundleFiles,
  read: (files: BundleFiles) => readonly ManifestFile[],
): ManifestObjects {
  const objects: LocatedObject[] = [];
  const problems: Problem[] = [];
  for (const path of entriesOf(files)) {
    try {
      for (const file of read(onlyEntry(files, path))) {
        objects.push(
          ...file.objects.map((object, document) => ({ file: file.path, document, object })),
        );
      }
    } catch (error) {
      const fix = files.directories.has(path)
        ? `move its files into ${directory}/ itself, or out of it`
        : 'correct the file';
      problems.push(readingProblem(error, { file: path, fix }));
    }
  }
  return { objects, problems };
}

function entriesOf({ files, directories }: BundleFiles): readonly string[] {
  return [...files.keys(), ...directories]
    .filter((path) => path.startsWith(`${directory}/`))
    .filter((path) => !path.includes('/', directory.length + 1))
    .toSorted();
}

function onlyEntry(files: BundleFiles, path: string): BundleFiles {
  const content = files.files.get(path);
  return {
    files: new Map(content === undefined ? [] : [[path, content]]),
    directories: new Set([directory, ...(content === undefined ? [path] : [])]),
  };
}
