import type { Command } from 'commander';

/** The classes of a BundleDeployment whose content is uploaded. */
export interface ClassFlags {
  readonly bundleDeploymentProvisionerClass: string;
  readonly bundleProvisionerClass: string;
}

const plain = 'core-rukpak-io-plain';

export function addClassFlags(command: Command): Command {
  return command
    .option('--bundle-deployment-provisioner-class <name>', 'class that applies the content', plain)
    .option('--bundle-provisioner-class <name>', 'class that unpacks the content', plain);
}
