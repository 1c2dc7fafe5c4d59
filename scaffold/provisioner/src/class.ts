import {
  type BundleDeployment,
  type BundleFiles,
  defineProvisioner,
  type KubernetesObject,
  TerminalError,
} from 'rukpak-ts/sdk';
import { readSettings } from './settings.ts';
import { siteObjects } from './site-objects.ts';

/**
 * The class `example-class`: a folder of web pages becomes a web server. Make it yours: `bundle` says
 * what content must look like, `deployment` what objects it becomes. Neither reaches a cluster, a
 * network or a clock, so the same content and settings are the same objects everywhere.
 */
export default defineProvisioner({
  className: 'example-class',
  bundle: async (files) => checkPages(files),
  deployment: async (files, deployment) => renderSite(files, deployment),
});

/** A ConfigMap holds the pages, and etcd takes no object that is much larger than a megabyte. */
const mostBytes = 900_000;

/**
 * Runs once per Bundle, before its content is stored. What it returns is what is stored: here the
 * content as it is. A TerminalError is final and becomes the message of the Bundle's condition, so it
 * says which file is wrong and what to do about it.
 */
function checkPages(files: BundleFiles): BundleFiles {
  if (!files.files.has('index.html')) {
    throw new TerminalError('index.html is missing: put the first page at the root of the bundle');
  }
  let bytes = 0;
  for (const [path, page] of files.files) {
    if (!/^[-._a-zA-Z0-9]+$/.test(path)) {
      throw new TerminalError(
        `${path} cannot be served: pages lie in no folder, and their names have letters, digits, "-", "_" and "."`,
      );
    }
    bytes += page.length;
  }
  if (bytes <= mostBytes) return files;
  throw new TerminalError(`the pages have ${bytes} bytes: ${mostBytes} is the most there may be`);
}

/** Runs whenever the BundleDeployment, its content or its objects have changed. */
function renderSite(
  files: BundleFiles,
  { metadata, spec }: BundleDeployment,
): readonly KubernetesObject[] {
  return siteObjects(metadata.name ?? '', files.files, readSettings(spec.config));
}
