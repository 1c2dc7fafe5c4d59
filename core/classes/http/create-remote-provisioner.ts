import {
  contractVersion,
  type DefinedProvisioner,
  type DeploymentHandler,
} from '../../contracts/provisioner.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import type { ProxyConfig } from '../../platform/net/index.ts';
import { type ClassAddressOptions, classAddress } from './class-address.ts';
import { ClassConnection } from './class-connection.ts';
import { ClassDescriptions } from './class-description.ts';
import { ClassServer } from './class-server.ts';
import { objectsOfAnswer } from './objects-of-answer.ts';
import {
  bundleHandler,
  configureHandler,
  deploymentHandler,
  inputsHandler,
} from './remote-handlers.ts';

export interface RemoteProvisionerOptions extends ClassAddressOptions {
  /** Folder as a Secret is mounted: `token`, `tls.crt` with `tls.key`, `ca.crt`. */
  readonly credentials?: string | undefined;
  readonly proxy?: ProxyConfig | undefined;
  /** Reads the answers with objects: in a process of their own, if need be. In this one where absent. */
  readonly readObjects?: DeploymentHandler;
  readonly clock?: Clock;
}

export interface RemoteProvisioner extends DefinedProvisioner {
  /** Ends its connections at once. */
  close(): Promise<void>;
}

/**
 * A class that a server provides by HTTP (docs/provisioner-http-v1.yaml). The server need not be
 * there yet; what it serves is asked when a first object needs it.
 * @throws Error where address or credentials cannot be used
 */
export async function createRemoteProvisioner(
  options: RemoteProvisionerOptions,
): Promise<RemoteProvisioner> {
  const { className, credentials, proxy, clock = systemClock } = options;
  const address = classAddress(options);
  const connection = await ClassConnection.open({ address, credentials, proxy });
  const server = new ClassServer({ address, connection, clock });
  const descriptions = new ClassDescriptions({ className, server, clock });
  const readObjects = options.readObjects ?? objectsOfAnswer;
  const remote = { server, descriptions, readObjects };
  return {
    contractVersion,
    className,
    bundle: bundleHandler(remote),
    configure: configureHandler(remote),
    deployment: deploymentHandler(remote),
    inputs: inputsHandler(remote),
    get uses() {
      return descriptions.uses;
    },
    close: () => connection.close(),
  };
}
