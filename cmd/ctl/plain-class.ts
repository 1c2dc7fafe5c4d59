import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { TerminalError } from '../../core/errors.ts';

export const plainClass = 'core-rukpak-io-plain';

/** What another class makes of a bundle's objects only its own process knows. */
export function mustBePlain({ metadata, spec }: BundleDeployment): void {
  if (spec.provisionerClassName === plainClass) return;
  throw new TerminalError(
    `BundleDeployment "${metadata.name}" is of class "${spec.provisionerClassName}": only what class "${plainClass}" applies can be foreseen`,
  );
}
