import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Half of what the content server has. A proxy in front of many clients is one address. */
const maxOfAddress = 256;

/** Closes further connections of an address that has its share: the others are for other clients. */
export function shareConnections(server: Server): void {
  const connections = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    const count = connections.get(remoteAddress) ?? 0;
    if (count >= maxOfAddress) {
      socket.destroy();
      return;
    }
    connections.set(remoteAddress, count + 1);
    socket.once('close', () => {
      const left = (connections.get(remoteAddress) ?? 0) - 1;
      if (left > 0) connections.set(remoteAddress, left);
      else connections.delete(remoteAddress);
    });
  });
}
