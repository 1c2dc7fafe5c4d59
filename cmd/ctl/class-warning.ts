import type { BundleFiles } from '../../core/sdk.ts';
import { classNameOf } from '../../provisioners/class-of-content.ts';

const plainClass = 'core-rukpak-io-plain';

interface Upload {
  readonly files: BundleFiles;
  /** The class that is to unpack it. */
  readonly bundleClass: string;
  readonly hasConfig: boolean;
}

/** What is likely to be a slip, where content is uploaded as plain; undefined where nothing is. */
export function classWarning({ files, bundleClass, hasConfig }: Upload): string | undefined {
  if (bundleClass !== plainClass) return undefined;
  const likely = classNameOf(files);
  if (likely !== plainClass) {
    return `the directory looks like content of class ${likely}: --bundle-provisioner-class ${likely} unpacks it as that`;
  }
  return hasConfig
    ? '--config: plain content is applied as written, whatever spec.config has'
    : undefined;
}
