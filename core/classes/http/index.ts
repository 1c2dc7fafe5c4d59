export {
  createRemoteProvisioner,
  type RemoteProvisioner,
  type RemoteProvisionerOptions,
} from './create-remote-provisioner.ts';
