"""Uses a tool server with the Python SDK: client.py ADDRESS KEY. Prints what it received, as JSON."""
import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

address, key = sys.argv[1:]
headers = {"Authorization": f"Bearer {key}"}


def http():
    return streamable_http_client(f"{address}/mcp", http_client=httpx2.AsyncClient(headers=headers))


async def use(transport, mode):
    async with Client(transport, mode=mode) as client:
        progress = []

        async def on_progress(done, total, message):
            progress.append(done)

        tools = (await client.list_tools()).tools
        found = await client.call_tool("ledger.search_receipts", {"limit": 1})
        await client.call_tool("test_tool_with_progress", {}, progress_callback=on_progress)
        refused = await client.call_tool("itsm_create_ticket", {})
        templates = (await client.list_resource_templates()).resource_templates
        return {
            "version": client.session.protocol_version,
            "tools": len(tools),
            "receipt": found.meta["receipt_id"],
            "progress": progress,
            "templates": [template.uri_template for template in templates],
            "error": refused.content[0].text,
        }


async def main():
    print(json.dumps([
        await use(http(), "auto"),
        await use(http(), "legacy"),
        await use(sse_client(f"{address}/sse", headers=headers), "legacy"),
    ]))


asyncio.run(main())
